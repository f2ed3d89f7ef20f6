#include "common/model/layers/group_normalization.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/broadcast.h"
#include "common/operations/group_normalization.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<GroupNormalization>& GroupNormalization::Fields() {
  using Self = GroupNormalization;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Normalization by the mean and variance of channel groups.",
      LayerFields<Self>(Joined<Self>(
          {{Optional("groups", &Self::groups, AtLeast(-1),
                     "Parts of the channels; -1: each channel is one."),
            Optional("axis", &Self::axis, "Axis of the channels.")},
           NormalizationFields<Self>(),
           BetaAndGammaFields<Self>()})));
  return table;
}

absl::StatusOr<Shape> GroupNormalization::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  RETURN_IF_ERROR(CheckAxis(axis, input));
  const int64_t channels = input[ExampleAxis(axis, input.size())];
  if (groups == 0 || (groups > 0 && channels % groups != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "groups ", groups, " must be -1 or a divisor of the ", channels,
        " channels of input shape ", ShapeToString(input)));
  }
  return input;
}

std::vector<VariableSpec> GroupNormalization::Variables(
    absl::Span<const Shape> inputs) const {
  return GammaAndBeta({inputs[0][ExampleAxis(axis, inputs[0].size())]});
}

LoweredLayer GroupNormalization::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const int channel_axis = 1 + ExampleAxis(axis, x.rank() - 1);
  const auto shape = absl::MakeConstSpan(x.shape());
  const int64_t channels = shape[channel_axis];
  // Axes after the channel axis are part of the channel's columns.
  const int64_t columns_each = NumElements(shape.subspan(channel_axis + 1));
  const int64_t columns = channels * columns_each;
  const auto of_columns = [&](const op::Tensor& variable) {
    if (columns_each == 1) return variable;
    const op::Tensor column = op::Reshape(variable, {channels, 1});
    return op::Reshape(op::Broadcast(column, {channels, columns_each}),
                       {columns});
  };
  std::optional<op::Tensor> gamma;
  if (scale) gamma = of_columns(call.variables.front());
  std::optional<op::Tensor> beta;
  if (center) beta = of_columns(call.variables.back());
  const int64_t positions = NumElements(shape.subspan(1, channel_axis - 1));
  const op::Tensor y = op::GroupNormalization(
      op::Reshape(x, {shape[0], positions, columns}), gamma, beta,
      groups == -1 ? channels : groups, epsilon);
  return op::Reshape(y, x.shape());
}

}  // namespace paceline
