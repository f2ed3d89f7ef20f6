#include "common/model/layers/concatenate.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/mask_layers.h"
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

absl::StatusOr<OutputMask> Concatenate::ComputeMask(
    const MaskedCall& call) const {
  const size_t rank = call.inputs[0].size();
  const int along = ExampleAxis(axis, rank);
  std::vector<ConcatenatedMask::Part> parts;
  bool has_any = false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const std::optional<Shape>& mask = call.masks[i];
    if (mask && mask->size() + 1 != rank) {
      return absl::UnimplementedError(absl::StrCat(
          "a mask ", ShapeToString(*mask), " of an input ",
          ShapeToString(call.inputs[i]),
          " is not supported yet; expected one with all axes but the last"));
    }
    has_any = has_any || mask;
    parts.push_back({mask.has_value(), call.inputs[i][along]});
  }
  if (!has_any) return OutputMask();
  return OutputMask{
      .kind = OutputMask::Kind::kFromMasks,
      .layer = std::make_unique<ConcatenatedMask>(std::move(parts), along),
      .operation_count = 4};
}

LoweredLayer Concatenate::Lower(const LayerCall& call) const {
  const size_t rank = call.inputs[0].shape().size() - 1;
  return op::Concatenate(call.inputs, 1 + ExampleAxis(axis, rank));
}

}  // namespace paceline
