#include "common/model/layers/leaky_relu.h"

#include "common/config/field_table.h"
#include "common/model/activation_operations.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<LeakyReLU>& LeakyReLU::Fields() {
  static const auto& table = *new FieldTable<LeakyReLU>(
      kClassName, "Rectifier with a slope below 0.",
      LayerFields<LeakyReLU>(
          {Optional("negative_slope", &LeakyReLU::negative_slope, AtLeast(0),
                    "Slope below 0.")}));
  return table;
}

absl::StatusOr<Shape> LeakyReLU::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer LeakyReLU::Lower(const LayerCall& call) const {
  return LeakyRelu(call.inputs[0], negative_slope);
}

}  // namespace paceline
