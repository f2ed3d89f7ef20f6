#include "common/model/metrics/top_k_categorical_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<TopKCategoricalAccuracy>& TopKCategoricalAccuracy::Fields() {
  static const auto& table = *new FieldTable<TopKCategoricalAccuracy>(
      kClassName,
      "Share of examples whose label is among the k largest outputs.",
      {Optional("k", &TopKCategoricalAccuracy::k, AtLeast(1),
                "How many of the largest outputs count."),
       Optional("name", &Metric::name, "Key in the logs."), DtypeField()});
  return table;
}

absl::Status TopKCategoricalAccuracy::CheckOutput(const Shape& output) const {
  return CheckClasses(output);
}

}  // namespace paceline
