#include "common/model/metrics/r2_score.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/metrics/sum_over_batch.h"
#include "common/operations/binary_map.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {

absl::Span<const EnumName<ScoreAggregation>> EnumNames(ScoreAggregation) {
  static constexpr EnumName<ScoreAggregation> kNames[] = {
      {ScoreAggregation::kUniformAverage, "uniform_average"},
      {ScoreAggregation::kVarianceWeightedAverage,
       "variance_weighted_average"}};
  return kNames;
}

const FieldTable<R2Score>& R2Score::Fields() {
  static const auto& table = *new FieldTable<R2Score>(
      kClassName, "Share of the labels' variance that the output explains.",
      MetricFields<R2Score>(
          {Optional("class_aggregation", &R2Score::class_aggregation,
                    "How the scores of several outputs become one."),
           Only("num_regressors", 0, "Regressors that adjust the score.")}));
  return table;
}

absl::Status R2Score::CheckOutput(const Shape& output) const {
  if (!class_aggregation) {
    return absl::UnimplementedError(
        "class_aggregation is null, a score for each output, but logs have one "
        "number a metric; expected uniform_average, the mean that Keras' "
        "progress bar shows for null, or variance_weighted_average");
  }
  return CheckRow(output);
}

op::Tensor R2Score::LowerState(const op::Tensor& output,
                               const op::Tensor& labels,
                               const std::optional<op::Tensor>& weights) const {
  const op::Tensor error = labels - output;
  const auto sum = [&weights](const op::Tensor& x) {
    return SumOverBatch(Weighted(x, weights));
  };
  const op::Tensor sum_of_labels = sum(labels);
  const op::Tensor sum_of_squares = sum(labels * labels);
  const op::Tensor residual = sum(error * error);
  const op::Tensor count =
      weights ? op::Reshape(op::SumAll(*weights), {1})
              : op::Constants(output.function(), output.data_type(),
                              {static_cast<double>(output.dimension(0))});
  return op::Concatenate({sum_of_labels, sum_of_squares, residual, count}, 0);
}

double R2Score::Result(absl::Span<const double> state) const {
  const double count = state[3 * outputs_];
  double sum_of_scores = 0;
  double sum_of_weighted = 0;
  double sum_of_weights = 0;
  for (int64_t i = 0; i < outputs_; ++i) {
    const double sum = state[i];
    const double variation = state[outputs_ + i] - sum * (sum / count);
    const double score = 1 - state[2 * outputs_ + i] / variation;
    const double finite = std::isinf(score) ? 0 : score;
    sum_of_scores += finite;
    sum_of_weighted += variation * finite;
    sum_of_weights += variation;
  }
  return class_aggregation == ScoreAggregation::kUniformAverage
             ? sum_of_scores / static_cast<double>(outputs_)
             : sum_of_weighted / sum_of_weights;
}

}  // namespace paceline
