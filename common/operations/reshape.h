// Reshapes a tensor, in C order.
#ifndef PACELINE_COMMON_OPERATIONS_RESHAPE_H_
#define PACELINE_COMMON_OPERATIONS_RESHAPE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class ReshapeOperation final : public Operation {
 public:
  static constexpr char kName[] = "Reshape";

  explicit ReshapeOperation(Shape shape) : shape_(std::move(shape)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

 private:
  Shape shape_;
};

// Returns x itself if it already has the shape.
Tensor Reshape(const Tensor& x, Shape shape);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_RESHAPE_H_
