#include "common/model/layers/flatten.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<Flatten>& Flatten::Fields() {
  static const auto& table = *new FieldTable<Flatten>(
      kClassName, "All elements of an example in one dimension.",
      LayerFields<Flatten>(
          {Only("data_format", "channels_last", "Layout of images.")}));
  return table;
}

absl::StatusOr<Shape> Flatten::OutputShape(
    absl::Span<const Shape> inputs) const {
  return Shape{NumElements(inputs[0])};
}

}  // namespace paceline
