#include "common/model/layers/elu.h"

#include "common/config/field_table.h"
#include "common/model/activation_operations.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<ELU>& ELU::Fields() {
  static const auto& table = *new FieldTable<ELU>(
      kClassName, "Exponential linear unit.",
      LayerFields<ELU>(
          {}, {Optional("alpha", &ELU::alpha, "Minus the limit at −∞.")}));
  return table;
}

absl::StatusOr<Shape> ELU::OutputShape(absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer ELU::Lower(const LayerCall& call) const {
  return Elu(call.inputs[0], alpha);
}

}  // namespace paceline
