#include "common/model/layers/concatenate.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/concatenate.h"

namespace paceline {

const FieldTable<Concatenate>& Concatenate::Fields() {
  static const auto& table = *new FieldTable<Concatenate>(
      kClassName, "Its inputs one behind the other.",
      LayerFields<Concatenate>(
          {Optional("axis", &Concatenate::axis,
                    "Counts the batch as 0, or from the end.")}));
  return table;
}

absl::StatusOr<Shape> Concatenate::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckAxis(axis, inputs[0]));
  const int along = ExampleAxis(axis, inputs[0].size());
  Shape output = inputs[0];
  output[along] = 0;
  for (const Shape& input : inputs) {
    Shape rest = input;
    if (input.size() == output.size()) rest[along] = output[along];
    if (rest != output) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inputs must have the same shape except along axis ", axis, ", got ",
          ShapeToString(inputs[0]), " and ", ShapeToString(input)));
    }
    output[along] += input[along];
  }
  return output;
}

LoweredLayer Concatenate::Lower(const LayerCall& call) const {
  const size_t rank = call.inputs[0].shape().size() - 1;
  return op::Concatenate(call.inputs, 1 + ExampleAxis(axis, rank));
}

}  // namespace paceline
