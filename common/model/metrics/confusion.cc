#include "common/model/metrics/confusion.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/top_k.h"
#include "common/model/shape_rule.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"

namespace paceline {

double DivideNoNan(double a, double b) { return b == 0 ? 0 : a / b; }

double Confusion::precision() const {
  return DivideNoNan(true_positives, true_positives + false_positives);
}
double Confusion::recall() const {
  return DivideNoNan(true_positives, true_positives + false_negatives);
}
double Confusion::specificity() const {
  return DivideNoNan(true_negatives, true_negatives + false_positives);
}

absl::Status CheckClassId(const std::optional<int64_t>& class_id,
                          const Shape& output) {
  RETURN_IF_ERROR(CheckRank(output, 1));
  if (!class_id || *class_id < output.back()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "class_id is ", *class_id, "; expected below ", output.back(),
      ", the last axis of an output ", ShapeToString(output)));
}

op::Tensor OfClass(const std::optional<int64_t>& class_id,
                   const op::Tensor& x) {
  return class_id ? op::SliceAxis(x, -1, *class_id, 1) : x;
}

absl::Status ConfusionMetric::CheckOutput(const Shape& output) const {
  RETURN_IF_ERROR(CheckClassId(class_id, output));
  if (!top_k || *top_k <= output.back()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("top_k is ", *top_k, "; expected at most ", output.back(),
                   ", the last axis of an output ", ShapeToString(output)));
}

op::Tensor ConfusionMetric::LowerState(
    const op::Tensor& output, const op::Tensor& labels,
    const std::optional<op::Tensor>& weights) const {
  const auto count = [&](const op::Tensor& a, const op::Tensor& b) {
    const op::Tensor are_both = op::Cast(op::And(a, b), output.data_type());
    return op::Reshape(op::SumAll(Weighted(are_both, weights)), {1});
  };
  // As in Keras: below all thresholds.
  constexpr double kNotInTopK = -1e10;
  op::Tensor candidates = output;
  if (top_k) {
    const op::Tensor least = op::ConstantLike(output, kNotInTopK);
    candidates = op::Select(AreTopK(output, *top_k), output, least);
  }
  const op::Tensor is_predicted =
      op::Greater(OfClass(class_id, candidates),
                  thresholds.value_or(top_k ? kNotInTopK : 0.5));
  const op::Tensor is_not_predicted = op::Not(is_predicted);
  const op::Tensor is_no = op::Equal(OfClass(class_id, labels), 0);
  const op::Tensor is_yes = op::Not(is_no);
  return op::Concatenate(
      {count(is_predicted, is_yes), count(is_predicted, is_no),
       count(is_not_predicted, is_no), count(is_not_predicted, is_yes)},
      0);
}

double ConfusionMetric::Result(absl::Span<const double> state) const {
  return ResultOf({state[0], state[1], state[2], state[3]});
}

}  // namespace paceline
