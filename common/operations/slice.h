// Cuts a box out of a tensor.
#ifndef PACELINE_COMMON_OPERATIONS_SLICE_H_
#define PACELINE_COMMON_OPERATIONS_SLICE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class SliceOperation final : public Operation {
 public:
  static constexpr char kName[] = "Slice";

  // The box covers [starts[i], starts[i] + sizes[i]) of axis i.
  SliceOperation(Shape starts, Shape sizes)
      : starts_(std::move(starts)), sizes_(std::move(sizes)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const Shape& starts() const { return starts_; }

 private:
  Shape starts_;
  Shape sizes_;
};

Tensor Slice(const Tensor& x, Shape starts, Shape sizes);

// A slice along one axis; a negative `axis` counts from the end.
Tensor SliceAxis(const Tensor& x, int axis, int64_t start, int64_t size);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SLICE_H_
