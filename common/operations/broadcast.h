// Repeats a tensor along axes, by NumPy's rule: shapes are aligned at their
// last axes, and an axis that is missing or of size 1 is repeated.
//
// Maps of two inputs broadcast them by the same rule without this operation.
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

// The tensor itself if it has the shape.
Tensor Broadcast(const Tensor& x, Shape shape);

// The shape to which both are broadcast. CHECK-fails if they do not fit.
Shape BroadcastShape(const Shape& a, const Shape& b);

// The gradient of a broadcast from `shape`: sums over the axes along which it
// repeated.
Tensor SumTo(const Tensor& x, const Shape& shape);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_BROADCAST_H_
