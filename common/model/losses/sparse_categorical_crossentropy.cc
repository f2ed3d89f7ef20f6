#include "common/model/losses/sparse_categorical_crossentropy.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<SparseCategoricalCrossentropy>&
SparseCategoricalCrossentropy::Fields() {
  static const auto& table = *new FieldTable<SparseCategoricalCrossentropy>(
      kClassName, "Cross-entropy of classes given by their ids.",
      {Optional("from_logits", &SparseCategoricalCrossentropy::from_logits,
                "Whether the output is logits."),
       Only("axis", -1, "Axis of the classes."),
       Only("ignore_class", nullptr, "Class that does not count."),
       Ignored("name", "Name."), ReductionField(), DtypeField()});
  return table;
}

absl::Status SparseCategoricalCrossentropy::CheckOutput(
    const Shape& output) const {
  return CheckClasses(output);
}

}  // namespace paceline
