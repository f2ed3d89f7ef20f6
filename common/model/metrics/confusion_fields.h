// Config keys of metrics at one threshold, for their field tables.
#ifndef PACELINE_COMMON_MODEL_METRICS_CONFUSION_FIELDS_H_
#define PACELINE_COMMON_MODEL_METRICS_CONFUSION_FIELDS_H_

#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/metrics/top_k.h"

namespace paceline {

// "thresholds" of metric M.
template <typename M>
Field<M> ThresholdField() {
  return Optional("thresholds", &M::thresholds, Between(0, 1),
                  "Above which an output is positive; null is 0.5.");
}

// "class_id" of metric M.
template <typename M>
Field<M> ClassIdField() {
  return Optional("class_id", &M::class_id, AtLeast(0),
                  "The class that counts; null: all do.");
}

// All fields of Precision and Recall.
template <typename M>
std::vector<Field<M>> PrecisionFields() {
  return MetricFields<M>(
      {ThresholdField<M>(),
       Optional("top_k", &M::top_k, Between(1, kMaxTopK),
                "How many of the largest outputs may be positive; null: all."),
       ClassIdField<M>()});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_CONFUSION_FIELDS_H_
