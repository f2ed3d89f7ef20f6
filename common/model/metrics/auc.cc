#include "common/model/metrics/auc.h"

#include <algorithm>
#include <cmath>

#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/operations/map.h"

namespace paceline {

namespace {

// A point of a curve.
struct Point {
  double x = 0;
  double y = 0;
};

Point GainOf(const Confusion& counts) {
  const double scale =
      DivideNoNan(counts.true_positives + counts.false_negatives,
                  counts.true_negatives + counts.false_positives);
  if (counts.true_positives == 0) return {0, 1};
  const double recall_gain =
      1 - scale * (counts.false_negatives / counts.true_positives);
  const double precision_gain =
      1 - scale * (counts.false_positives / counts.true_positives);
  return {std::max(recall_gain, 0.0), precision_gain};
}

Point PointOf(AucCurve curve, const Confusion& counts) {
  switch (curve) {
    case AucCurve::kRoc:
      return {DivideNoNan(counts.false_positives,
                          counts.false_positives + counts.true_negatives),
              counts.recall()};
    case AucCurve::kPr:
      return {counts.recall(), counts.precision()};
    case AucCurve::kPrGain:
      return GainOf(counts);
  }
  return {};
}

double HeightBetween(AucSummation summation, double a, double b) {
  switch (summation) {
    case AucSummation::kInterpolation:
      return (a + b) / 2;
    case AucSummation::kMinoring:
      return std::min(a, b);
    case AucSummation::kMajoring:
      return std::max(a, b);
  }
  return 0;
}

// The area between two thresholds where true positives grow linearly with all
// positives: not so their share, the precision (Davis and Goadrich, 2006).
double InterpolatedPrArea(const Confusion& lower, const Confusion& higher) {
  const double positives = lower.true_positives + lower.false_positives;
  const double fewer = higher.true_positives + higher.false_positives;
  const double true_change = lower.true_positives - higher.true_positives;
  const double slope = DivideNoNan(true_change, positives - fewer);
  const double intercept = higher.true_positives - slope * fewer;
  const double ratio = positives > 0 && fewer > 0 ? positives / fewer : 1;
  return DivideNoNan(slope * (true_change + intercept * std::log(ratio)),
                     higher.true_positives + higher.false_negatives);
}

}  // namespace

absl::Span<const EnumName<AucCurve>> EnumNames(AucCurve) {
  static constexpr EnumName<AucCurve> kNames[] = {
      {AucCurve::kRoc, "ROC"},       {AucCurve::kPr, "PR"},
      {AucCurve::kPrGain, "PRGAIN"}, {AucCurve::kRoc, "roc"},
      {AucCurve::kPr, "pr"},         {AucCurve::kPrGain, "prgain"}};
  return kNames;
}

absl::Span<const EnumName<AucSummation>> EnumNames(AucSummation) {
  static constexpr EnumName<AucSummation> kNames[] = {
      {AucSummation::kInterpolation, "interpolation"},
      {AucSummation::kMinoring, "minoring"},
      {AucSummation::kMajoring, "majoring"},
      {AucSummation::kInterpolation, "Interpolation"},
      {AucSummation::kMinoring, "Minoring"},
      {AucSummation::kMajoring, "Majoring"}};
  return kNames;
}

const FieldTable<Auc>& Auc::Fields() {
  static const auto& table = *new FieldTable<Auc>(
      kClassName, "Area under the curve of recall and false positives.",
      MetricFields<Auc>(
          {WrittenAs<Auc>(
               [](const Auc& auc) { return Value(auc.Thresholds().size()); },
               Optional("num_thresholds", &Auc::num_thresholds, AtLeast(2),
                        "How many thresholds are spread over [0, 1].")),
           Optional("curve", &Auc::curve, "Which curve."),
           Optional("summation_method", &Auc::summation_method,
                    "Height of the curve between two thresholds."),
           Only("multi_label", false, "Whether each label has a curve."),
           Only("num_labels", nullptr, "Number of labels that have a curve."),
           Only("label_weights", nullptr, "Weights of labels."),
           Optional("from_logits", &Auc::from_logits,
                    "Whether the output is logits."),
           WrittenUnlessDefault<Auc>(
               Optional("thresholds", &Auc::thresholds, Between(0, 1),
                        "The thresholds, instead of even ones."))}));
  return table;
}

CurveThresholds Auc::Thresholds() const {
  return {.count = num_thresholds,
          .given = thresholds.value_or(std::vector<double>()),
          .pass_ends = true};
}

op::Tensor Auc::Probabilities(const op::Tensor& output) const {
  return from_logits ? op::Sigmoid(output) : output;
}

double Auc::ResultOf(const std::vector<Confusion>& counts) const {
  double area = 0;
  for (size_t i = 0; i + 1 < counts.size(); ++i) {
    if (curve == AucCurve::kPr &&
        summation_method == AucSummation::kInterpolation) {
      area += InterpolatedPrArea(counts[i], counts[i + 1]);
      continue;
    }
    const Point lower = PointOf(curve, counts[i]);
    const Point higher = PointOf(curve, counts[i + 1]);
    area += (lower.x - higher.x) *
            HeightBetween(summation_method, lower.y, higher.y);
  }
  return area;
}

}  // namespace paceline
