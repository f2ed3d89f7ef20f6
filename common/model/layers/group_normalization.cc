#include "common/model/layers/group_normalization.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
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
  const int64_t channels = x.dimension(channel_axis);
  const int64_t group_count = groups == -1 ? channels : groups;

  // (..., channels, ...) becomes (..., groups, channels / groups, ...).
  Shape grouped = x.shape();
  grouped[channel_axis] = channels / group_count;
  grouped.insert(grouped.begin() + channel_axis, group_count);
  std::vector<int> reduced;
  for (int i = 1; i < static_cast<int>(grouped.size()); ++i) {
    if (i != channel_axis) reduced.push_back(i);
  }
  const op::Tensor of_groups = op::Reshape(x, grouped);
  const op::Tensor deviation = of_groups - op::Mean(of_groups, reduced);
  const op::Tensor variance = op::Mean(deviation * deviation, reduced);
  const op::Tensor normalized = deviation / op::Sqrt(variance + epsilon);

  op::Tensor y = op::Reshape(normalized, x.shape());
  Shape of_channels(x.rank() - channel_axis, 1);
  of_channels[0] = channels;
  if (scale) y = y * op::Reshape(call.variables.front(), of_channels);
  if (center) y = y + op::Reshape(call.variables.back(), of_channels);
  return y;
}

}  // namespace paceline
