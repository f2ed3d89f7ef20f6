// Broadcasts a tensor by NumPy's rule: shapes are aligned at their last axes,
// and missing axes and axes of size 1 are repeated.
//
// Functions of two inputs broadcast by the same rule without this operation.
#ifndef PACELINE_COMMON_OPERATIONS_BROADCAST_H_
#define PACELINE_COMMON_OPERATIONS_BROADCAST_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class BroadcastOperation final : public Operation {
 public:
  static constexpr char kName[] = "Broadcast";

  explicit BroadcastOperation(Shape shape) : shape_(std::move(shape)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

 private:
  Shape shape_;
};

// Returns x itself if it already has the shape.
Tensor Broadcast(const Tensor& x, Shape shape);

// The shape to which both are broadcast. CHECK-fails if they are incompatible.
Shape BroadcastShape(const Shape& a, const Shape& b);

// The gradient of a broadcast from `shape`: sums over the broadcast axes.
Tensor SumTo(const Tensor& x, const Shape& shape);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_BROADCAST_H_
