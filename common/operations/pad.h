// Pads a tensor with a constant.
#ifndef PACELINE_COMMON_OPERATIONS_PAD_H_
#define PACELINE_COMMON_OPERATIONS_PAD_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Elements added at both ends of an axis.
struct AxisPadding {
  int64_t before = 0;
  int64_t after = 0;
};

class PadOperation final : public Operation {
 public:
  static constexpr char kName[] = "Pad";

  // One entry per axis.
  PadOperation(std::vector<AxisPadding> padding, double value)
      : padding_(std::move(padding)), value_(value) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const std::vector<AxisPadding>& padding() const { return padding_; }
  double value() const { return value_; }

 private:
  std::vector<AxisPadding> padding_;
  double value_;
};

Tensor Pad(const Tensor& x, std::vector<AxisPadding> padding, double value = 0);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_PAD_H_
