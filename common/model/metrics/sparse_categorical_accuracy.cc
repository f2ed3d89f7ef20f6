#include "common/model/metrics/sparse_categorical_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<SparseCategoricalAccuracy>&
SparseCategoricalAccuracy::Fields() {
  static const auto& table = *new FieldTable<SparseCategoricalAccuracy>(
      kClassName, "Share of examples whose largest output is the label.",
      MetricFields<SparseCategoricalAccuracy>({}));
  return table;
}

absl::Status SparseCategoricalAccuracy::CheckOutput(const Shape& output) const {
  return CheckClasses(output);
}

op::Tensor SparseCategoricalAccuracy::Lower(const op::Tensor& output,
                                            const op::Tensor& labels) const {
  const op::Tensor prediction = op::Reshape(op::ArgMax(output), labels.shape());
  const DataType type = output.data_type();
  return op::Cast(op::AreSameIds(prediction, labels, type), type);
}

}  // namespace paceline
