#include "common/model/metrics/precision.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"

namespace paceline {

const FieldTable<PrecisionMetric>& PrecisionMetric::Fields() {
  static const auto& table = *new FieldTable<PrecisionMetric>(
      kClassName, "Share of the positive predictions that are right.",
      MetricFields<PrecisionMetric>(
          {Optional("thresholds", &PrecisionMetric::thresholds, Between(0, 1),
                    "Above which an output is positive; null is 0.5."),
           Only("top_k", nullptr, "How many of the largest outputs count."),
           Optional("class_id", &PrecisionMetric::class_id, AtLeast(0),
                    "The class that counts; null: all do.")}));
  return table;
}

absl::Status PrecisionMetric::CheckOutput(const Shape& output) const {
  RETURN_IF_ERROR(CheckRank(output, 1));
  if (!class_id || *class_id < output.back()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "class_id is ", *class_id, "; expected below ", output.back(),
      ", the last axis of an output ", ShapeToString(output)));
}

op::Tensor PrecisionMetric::Lower(const op::Tensor& output,
                                  const op::Tensor& labels) const {
  const auto counting = [this](const op::Tensor& x) {
    return class_id ? op::SliceAxis(x, -1, *class_id, 1) : x;
  };
  const auto count = [&output](const op::Tensor& holds) {
    return op::Reshape(op::SumAll(op::Cast(holds, output.data_type())), {1});
  };
  const op::Tensor is_predicted =
      op::Greater(counting(output), thresholds.value_or(0.5));
  const op::Tensor is_negative = op::Equal(counting(labels), 0);
  return op::Concatenate({count(op::And(is_predicted, op::Not(is_negative))),
                          count(op::And(is_predicted, is_negative))},
                         0);
}

double PrecisionMetric::Result(absl::Span<const double> state) const {
  const double predicted = state[0] + state[1];
  return predicted == 0 ? 0 : state[0] / predicted;
}

}  // namespace paceline
