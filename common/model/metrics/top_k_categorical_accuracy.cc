#include "common/model/metrics/top_k_categorical_accuracy.h"

#include <utility>

#include "common/config/field_table.h"
#include "common/model/metrics/metric_fields.h"
#include "common/model/metrics/top_k.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<TopKCategoricalAccuracy>& TopKCategoricalAccuracy::Fields() {
  static const auto& table = *new FieldTable<TopKCategoricalAccuracy>(
      kClassName,
      "Share of examples whose label is among the k largest outputs.",
      MetricFields<TopKCategoricalAccuracy>(
          {Optional("k", &TopKCategoricalAccuracy::k, AtLeast(1),
                    "How many of the largest outputs count.")}));
  return table;
}

absl::Status TopKCategoricalAccuracy::CheckOutput(const Shape& output) const {
  return CheckClasses(output);
}

op::Tensor TopKCategoricalAccuracy::Lower(const op::Tensor& output,
                                          const op::Tensor& labels) const {
  Shape rows = labels.shape();
  rows.pop_back();
  return IsInTopK(output, op::Reshape(op::ArgMax(labels), std::move(rows)), k);
}

}  // namespace paceline
