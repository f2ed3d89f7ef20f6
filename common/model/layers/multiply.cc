#include "common/model/layers/multiply.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<Multiply>& Multiply::Fields() {
  static const auto& table = *new FieldTable<Multiply>(
      kClassName, "Product of its inputs, element by element.",
      LayerFields<Multiply>({}));
  return table;
}

absl::StatusOr<Shape> Multiply::OutputShape(
    absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

}  // namespace paceline
