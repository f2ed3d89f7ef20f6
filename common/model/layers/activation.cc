#include "common/model/layers/activation.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<Activation>& Activation::Fields() {
  static const auto& table = *new FieldTable<Activation>(
      kClassName, "An activation function as a layer.",
      LayerFields<Activation>(
          {Required("activation", &Activation::activation, "The function.")}));
  return table;
}

absl::StatusOr<Shape> Activation::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer Activation::Lower(const LayerCall& call) const {
  return call.inputs[0];
}

}  // namespace paceline
