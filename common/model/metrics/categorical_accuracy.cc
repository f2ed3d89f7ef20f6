#include "common/model/metrics/categorical_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/loss.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<CategoricalAccuracy>& CategoricalAccuracy::Fields() {
  static const auto& table = *new FieldTable<CategoricalAccuracy>(
      kClassName,
      "Share of examples whose largest output is that of the label.",
      MetricFields<CategoricalAccuracy>({}));
  return table;
}

absl::Status CategoricalAccuracy::CheckOutput(const Shape& output) const {
  return CheckClasses(output);
}

op::Tensor CategoricalAccuracy::Lower(const op::Tensor& output,
                                      const op::Tensor& labels) const {
  const op::Tensor prediction = op::ArgMax(output);
  const DataType type = output.data_type();
  const op::Tensor is_right =
      op::AreSameIds(prediction, op::ArgMax(labels), type);
  return op::Cast(is_right, type);
}

}  // namespace paceline
