#include "common/model/layers/add.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<Add>& Add::Fields() {
  static const auto& table = *new FieldTable<Add>(
      kClassName, "Sum of its inputs.", LayerFields<Add>({}));
  return table;
}

absl::StatusOr<Shape> Add::OutputShape(absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

}  // namespace paceline
