#include "common/model/metrics/constrained_rates.h"

#include <algorithm>

#include "common/config/field_table.h"
#include "common/model/metrics/confusion_fields.h"

namespace paceline {

namespace {

// The table of metric M, whose `key` is the least value of the other rate.
template <typename M>
FieldTable<M> ConstrainedRateTable(const char* help, const char* key) {
  return FieldTable<M>(
      M::kClassName, help,
      MetricFields<M>(
          {ClassIdField<M>(),
           Optional("num_thresholds", &M::num_thresholds, AtLeast(1),
                    "How many thresholds are spread over [0, 1]."),
           Required(key, &M::least, Between(0, 1), "The least value.")}));
}

}  // namespace

const FieldTable<PrecisionAtRecall>& PrecisionAtRecall::Fields() {
  static const auto& table = *new FieldTable<PrecisionAtRecall>(
      ConstrainedRateTable<PrecisionAtRecall>(
          "The highest precision at which recall is at least a value.",
          "recall"));
  return table;
}

const FieldTable<RecallAtPrecision>& RecallAtPrecision::Fields() {
  static const auto& table = *new FieldTable<RecallAtPrecision>(
      ConstrainedRateTable<RecallAtPrecision>(
          "The highest recall at which precision is at least a value.",
          "precision"));
  return table;
}

const FieldTable<SensitivityAtSpecificity>& SensitivityAtSpecificity::Fields() {
  static const auto& table = *new FieldTable<SensitivityAtSpecificity>(
      ConstrainedRateTable<SensitivityAtSpecificity>(
          "The highest share of positive labels that are predicted, where that "
          "of negative ones is at least a value.",
          "specificity"));
  return table;
}

const FieldTable<SpecificityAtSensitivity>& SpecificityAtSensitivity::Fields() {
  static const auto& table = *new FieldTable<SpecificityAtSensitivity>(
      ConstrainedRateTable<SpecificityAtSensitivity>(
          "The highest share of negative labels that are predicted, where that "
          "of positive ones is at least a value.",
          "sensitivity"));
  return table;
}

absl::Status ConstrainedRate::CheckOutput(const Shape& output) const {
  return CheckClassId(class_id, output);
}

op::Tensor ConstrainedRate::Probabilities(const op::Tensor& output) const {
  return OfClass(class_id, output);
}

op::Tensor ConstrainedRate::CountedLabels(const op::Tensor& labels) const {
  return OfClass(class_id, labels);
}

double ConstrainedRate::ResultOf(const std::vector<Confusion>& curve) const {
  double best = 0;
  for (const Confusion& counts : curve) {
    if (Constrained(counts) >= least) best = std::max(best, Wanted(counts));
  }
  return best;
}

}  // namespace paceline
