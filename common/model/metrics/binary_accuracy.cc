#include "common/model/metrics/binary_accuracy.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<BinaryAccuracy>& BinaryAccuracy::Fields() {
  static const auto& table = *new FieldTable<BinaryAccuracy>(
      kClassName, "Share of elements on the right side of the threshold.",
      {Optional("threshold", &BinaryAccuracy::threshold, Between(0, 1),
                "What parts no from yes."),
       Optional("name", &Metric::name, "Key in the logs."), DtypeField()});
  return table;
}

absl::Status BinaryAccuracy::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

}  // namespace paceline
