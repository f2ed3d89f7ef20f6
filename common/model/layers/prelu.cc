#include "common/model/layers/prelu.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<PReLU>& PReLU::Fields() {
  static const auto& table = *new FieldTable<PReLU>(
      kClassName, "Rectifier with slopes below 0 that are trained.",
      LayerFields<PReLU>(Joined<PReLU>(
          {VariableFields<PReLU>(
               {{"alpha", "the slopes", &PReLU::alpha_initializer,
                 &PReLU::alpha_regularizer, &PReLU::alpha_constraint}}),
           {WrittenAs<PReLU>(
               [](const PReLU& layer) -> std::optional<Value> {
                 return layer.shared_axes ? WriteAsList(*layer.shared_axes)
                                          : Value();
               },
               Optional("shared_axes", &PReLU::shared_axes, AtLeast(1),
                        "Axes along which elements have one slope."))}})));
  return table;
}

absl::StatusOr<Shape> PReLU::OutputShape(absl::Span<const Shape> inputs) const {
  if (shared_axes) {
    RETURN_IF_ERROR(ExampleAxes(*shared_axes, inputs[0]).status());
  }
  return inputs[0];
}

std::vector<VariableSpec> PReLU::Variables(
    absl::Span<const Shape> inputs) const {
  Shape shape = inputs[0];
  for (const int64_t axis : shared_axes.value_or(AxisList())) {
    shape[ExampleAxis(axis, shape.size())] = 1;
  }
  return {
      {"alpha", shape, alpha_initializer, alpha_regularizer, alpha_constraint}};
}

LoweredLayer PReLU::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const op::Tensor above = op::Relu(x);
  return above - call.variables[0] * op::Relu(-x);
}

}  // namespace paceline
