#include "common/model/losses/axis_sums.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/model/masked_mean.h"
#include "common/operations/broadcast.h"
#include "common/operations/reduce.h"

namespace paceline {

absl::Status CheckSumAxes(const std::optional<AxisList>& axes,
                          const Shape& output) {
  if (!axes) return absl::OkStatus();
  const auto rank = static_cast<int64_t>(output.size()) + 1;
  std::set<int64_t> distinct;
  for (const int64_t axis : *axes) {
    if (axis >= rank || axis < -rank ||
        !distinct.insert(axis < 0 ? axis + rank : axis).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis ", axis, " must be an axis of output shape ",
          ShapeToString(output), " (the batch is axis 0), and only once"));
    }
  }
  return absl::OkStatus();
}

AxisSums::AxisSums(const std::optional<AxisList>& axes, const op::Tensor& input)
    : batch_(input.dimension(0)) {
  if (!axes) {
    axes_.resize(input.rank());
    std::iota(axes_.begin(), axes_.end(), 0);
    return;
  }
  for (const int64_t axis : *axes) {
    axes_.push_back(static_cast<int>(axis < 0 ? axis + input.rank() : axis));
  }
  std::sort(axes_.begin(), axes_.end());
}

op::Tensor AxisSums::Of(const op::Tensor& x) const { return op::Sum(x, axes_); }

op::Tensor AxisSums::LossOf(const op::Tensor& values) const {
  return op::Broadcast(MeanOfExamples(values), {batch_});
}

}  // namespace paceline
