#include "common/model/metrics/sparse_top_k_categorical_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/metrics/top_k.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<SparseTopKCategoricalAccuracy>&
SparseTopKCategoricalAccuracy::Fields() {
  static const auto& table = *new FieldTable<SparseTopKCategoricalAccuracy>(
      kClassName,
      "Share of examples whose label is among the k largest outputs.",
      MetricFields<SparseTopKCategoricalAccuracy>(
          {Optional("k", &SparseTopKCategoricalAccuracy::k, AtLeast(1),
                    "How many of the largest outputs count.")}));
  return table;
}

absl::Status SparseTopKCategoricalAccuracy::CheckOutput(
    const Shape& output) const {
  return CheckClasses(output);
}

op::Tensor SparseTopKCategoricalAccuracy::Lower(
    const op::Tensor& output, const op::Tensor& labels) const {
  return IsInTopK(output, labels, k);
}

}  // namespace paceline
