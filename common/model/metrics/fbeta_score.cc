#include "common/model/metrics/fbeta_score.h"

#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/loss.h"
#include "common/model/masked_mean.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/metrics/sum_over_batch.h"
#include "common/model/row_max.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/map.h"
#include "common/operations/select.h"

namespace paceline {

namespace {

Field<FBetaScore> AverageField() {
  return Optional("average", &FBetaScore::average,
                  "How the scores of classes become one; must be given.");
}

Field<FBetaScore> ScoreThresholdField() {
  return Optional("threshold", &FBetaScore::threshold, AboveUpTo(0, 1),
                  "Above which a class is predicted; null: the largest is.");
}

// The F-beta score of counts.
double Score(double true_positives, double false_positives,
             double false_negatives, double beta) {
  const double precision =
      true_positives / (true_positives + false_positives + kEpsilon);
  const double recall =
      true_positives / (true_positives + false_negatives + kEpsilon);
  return (1 + beta * beta) * precision * recall /
         (beta * beta * precision + recall + kEpsilon);
}

}  // namespace

absl::Span<const EnumName<ScoreAverage>> EnumNames(ScoreAverage) {
  static constexpr EnumName<ScoreAverage> kNames[] = {
      {ScoreAverage::kMicro, "micro"},
      {ScoreAverage::kMacro, "macro"},
      {ScoreAverage::kWeighted, "weighted"}};
  return kNames;
}

const FieldTable<FBetaScore>& FBetaScore::Fields() {
  static const auto& table = *new FieldTable<FBetaScore>(
      kClassName, "Weighted harmonic mean of precision and recall.",
      MetricFields<FBetaScore>(
          {AverageField(),
           Optional("beta", &FBetaScore::beta, Above(0),
                    "How many times as much recall counts as precision."),
           ScoreThresholdField()}));
  return table;
}

const FieldTable<F1Score>& F1Score::Fields() {
  static const auto& table = *new FieldTable<F1Score>(
      kClassName, "Harmonic mean of precision and recall.",
      MetricFields<F1Score>({AverageField(), ScoreThresholdField()}));
  return table;
}

absl::Status FBetaScore::CheckOutput(const Shape& output) const {
  if (!average) {
    return absl::UnimplementedError(
        "average is null, a score for each class, but logs have one number a "
        "metric; expected macro, the mean that Keras' progress bar shows for "
        "null, or micro or weighted");
  }
  return CheckRow(output);
}

op::Tensor FBetaScore::LowerState(
    const op::Tensor& output, const op::Tensor& labels,
    const std::optional<op::Tensor>& weights) const {
  // As in Keras.
  constexpr double kLeastPrediction = 1e-9;
  const auto is_largest = [&output] {
    const op::Tensor is_nonzero =
        op::Greater(op::Abs(output), kLeastPrediction);
    return op::And(op::GreaterEqual(output, RowMax(output)), is_nonzero);
  };
  const op::Tensor predicted =
      op::Cast(threshold ? op::Greater(output, *threshold) : is_largest(),
               output.data_type());
  const auto sum = [&weights](const op::Tensor& x) {
    return SumOverBatch(Weighted(x, weights));
  };
  const op::Tensor true_positives = sum(predicted * labels);
  const op::Tensor false_positives = sum(predicted * (1 - labels));
  const op::Tensor false_negatives = sum((1 - predicted) * labels);
  return op::Concatenate({true_positives, false_positives, false_negatives}, 0);
}

double FBetaScore::Result(absl::Span<const double> state) const {
  double true_positives = 0;
  double false_positives = 0;
  double false_negatives = 0;
  double sum_of_scores = 0;
  double sum_of_weighted = 0;
  for (int64_t i = 0; i < classes_; ++i) {
    const double tp = state[i];
    const double fp = state[classes_ + i];
    const double fn = state[2 * classes_ + i];
    true_positives += tp;
    false_positives += fp;
    false_negatives += fn;
    const double score = Score(tp, fp, fn, beta);
    sum_of_scores += score;
    sum_of_weighted += score * (tp + fn);
  }
  switch (*average) {
    case ScoreAverage::kMicro:
      return Score(true_positives, false_positives, false_negatives, beta);
    case ScoreAverage::kMacro:
      return sum_of_scores / static_cast<double>(classes_);
    case ScoreAverage::kWeighted:
      return sum_of_weighted / (true_positives + false_negatives + kEpsilon);
  }
  return 0;
}

}  // namespace paceline
