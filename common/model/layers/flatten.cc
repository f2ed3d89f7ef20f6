#include "common/model/layers/flatten.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/reshape.h"

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

LoweredLayer Flatten::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const Shape example(x.shape().begin() + 1, x.shape().end());
  Shape shape = *OutputShape({example});
  shape.insert(shape.begin(), x.dimension(0));
  return op::Reshape(x, shape);
}

}  // namespace paceline
