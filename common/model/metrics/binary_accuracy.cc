#include "common/model/metrics/binary_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/loss.h"
#include "common/model/metrics/metric_fields.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"

namespace paceline {

const FieldTable<BinaryAccuracy>& BinaryAccuracy::Fields() {
  static const auto& table = *new FieldTable<BinaryAccuracy>(
      kClassName, "Share of elements on the right side of the threshold.",
      MetricFields<BinaryAccuracy>(
          {Optional("threshold", &BinaryAccuracy::threshold, Between(0, 1),
                    "What parts no from yes.")}));
  return table;
}

op::Tensor BinaryAccuracy::Lower(const op::Tensor& output,
                                 const op::Tensor& labels) const {
  const op::Tensor is_above =
      op::Cast(op::Greater(output, threshold), output.data_type());
  return op::Cast(op::Equal(labels, is_above), output.data_type());
}

}  // namespace paceline
