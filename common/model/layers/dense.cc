#include "common/model/layers/dense.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<Dense>& Dense::Fields() {
  static const auto& table = *new FieldTable<Dense>(
      kClassName, "Densely connected layer: input · kernel + bias.",
      LayerFields<Dense>(Joined<Dense>(
          {{Required("units", &Dense::units, AtLeast(1), "Size of the output."),
            Optional("activation", &Dense::activation,
                     "Activation of the output."),
            Optional("use_bias", &Dense::use_bias, "Whether a bias is added.")},
           VariableFields<Dense>(
               {{"kernel", "the kernel", &Dense::kernel_initializer,
                 &Dense::kernel_regularizer, &Dense::kernel_constraint},
                {"bias", "the bias", &Dense::bias_initializer,
                 &Dense::bias_regularizer, &Dense::bias_constraint}}),
           {NotWritten(
               Only("quantization_config", nullptr, "Quantization."))}})));
  return table;
}

absl::StatusOr<Shape> Dense::OutputShape(absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckRank(inputs[0], 1));
  Shape output = inputs[0];
  output.back() = units;
  return output;
}

std::vector<VariableSpec> Dense::Variables(
    absl::Span<const Shape> inputs) const {
  std::vector<VariableSpec> variables = {{"kernel",
                                          {inputs[0].back(), units},
                                          kernel_initializer,
                                          kernel_regularizer,
                                          kernel_constraint}};
  if (use_bias) {
    variables.push_back(
        {"bias", {units}, bias_initializer, bias_regularizer, bias_constraint});
  }
  return variables;
}

LoweredLayer Dense::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  // All axes but the last are flattened into rows.
  Shape shape = x.shape();
  const int64_t size = shape.back();
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  shape.back() = units;
  op::Tensor y =
      op::MatrixProduct(op::Reshape(x, {rows, size}), call.variables[0]);
  if (use_bias) y = y + call.variables[1];
  return op::Reshape(y, shape);
}

}  // namespace paceline
