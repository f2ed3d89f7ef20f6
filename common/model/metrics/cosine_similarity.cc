#include "common/model/metrics/cosine_similarity.h"

#include "common/config/field_table.h"
#include "common/model/losses/cosine_similarity.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

// Keras' get_config() omits the axis.
const FieldTable<CosineSimilarityMetric>& CosineSimilarityMetric::Fields() {
  using Self = CosineSimilarityMetric;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Cosine between output and label.",
      MetricFields<Self>({WrittenUnlessDefault<Self>(
          Optional("axis", &Self::axis, "Axis of the vectors."))}));
  return table;
}

absl::Status CosineSimilarityMetric::CheckOutput(const Shape& output) const {
  return CheckAxis(axis, output);
}

op::Tensor CosineSimilarityMetric::Lower(const op::Tensor& output,
                                         const op::Tensor& labels) const {
  return CosineSimilarities(output, labels, axis);
}

}  // namespace paceline
