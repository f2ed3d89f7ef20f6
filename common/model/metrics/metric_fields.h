// Config keys that Keras' metrics share, for their field tables.
#ifndef PACELINE_COMMON_MODEL_METRICS_METRIC_FIELDS_H_
#define PACELINE_COMMON_MODEL_METRICS_METRIC_FIELDS_H_

#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/metric.h"

namespace paceline {

// The fields of metric M: those of Keras' base class, then its own.
template <typename M>
std::vector<Field<M>> MetricFields(std::vector<Field<M>> own) {
  std::vector<Field<M>> fields = {
      Optional("name", &Metric::name, "Key in the logs."), DtypeField()};
  return Joined<M>({std::move(fields), std::move(own)});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_METRICS_METRIC_FIELDS_H_
