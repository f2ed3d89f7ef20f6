// Concatenates tensors along an axis.
#ifndef PACELINE_COMMON_OPERATIONS_CONCATENATE_H_
#define PACELINE_COMMON_OPERATIONS_CONCATENATE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Inputs have the same type, and the same shape except along the axis.
class ConcatenateOperation final : public Operation {
 public:
  static constexpr char kName[] = "Concatenate";

  // `axis` counts from 0.
  explicit ConcatenateOperation(int axis) : axis_(axis) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  int axis() const { return axis_; }

 private:
  int axis_;
};

// A negative `axis` counts from the end.
Tensor Concatenate(absl::Span<const Tensor> inputs, int axis);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CONCATENATE_H_
