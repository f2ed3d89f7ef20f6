#include "common/model/losses/categorical_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<CategoricalCrossentropy>& CategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<CategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their probabilities.",
      {Optional("from_logits", &CategoricalCrossentropy::from_logits,
                "Whether the output is logits."),
       Optional("label_smoothing", &CategoricalCrossentropy::label_smoothing,
                Between(0, 1),
                "Share of a label that is spread over the classes."),
       Only("axis", -1, "Axis of the classes."), Ignored("name", "Name."),
       ReductionField(), DtypeField()});
  return table;
}

absl::Status CategoricalCrossentropy::CheckOutput(const Shape& output) const {
  return CheckRank(output, 1);
}

}  // namespace paceline
