#include "common/model/losses/binary_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<BinaryCrossentropy>& BinaryCrossentropy::Fields() {
  static const auto& table = *new FieldTable<BinaryCrossentropy>(
      kClassName, "Cross-entropy of independent yes or no.",
      {Optional("from_logits", &BinaryCrossentropy::from_logits,
                "Whether the output is logits."),
       Optional("label_smoothing", &BinaryCrossentropy::label_smoothing,
                Between(0, 1),
                "Share of a label that is spread over the classes."),
       Only("axis", -1, "Axis of the classes."), Ignored("name", "Name."),
       ReductionField(), DtypeField()});
  return table;
}

absl::Status BinaryCrossentropy::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

}  // namespace paceline
