#include "common/model/layers/normalization.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reshape.h"

namespace paceline {
namespace {

// Keras' epsilon(): the least divisor.
constexpr double kLeastDeviation = 1e-7;

}  // namespace

const FieldTable<Normalization>& Normalization::Fields() {
  using Self = Normalization;
  const auto write_axis = [](const Self& layer) -> std::optional<Value> {
    return WriteAsList(layer.axis.value_or(AxisList()));
  };
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Normalization by a mean and variance that are given.",
      LayerFields<Self>(
          {WrittenAs(write_axis,
                     Optional("axis", &Self::axis,
                              "Axes along which each index has its own mean; "
                              "null: one mean for all.")),
           Optional("invert", &Self::invert, "Whether it undoes the same."),
           Optional("mean", &Self::mean,
                    "Mean, or one for each channel; null: from a file."),
           Optional("variance", &Self::variance,
                    "Variance, or one for each channel.")}));
  return table;
}

absl::StatusOr<std::vector<int>> Normalization::KeptAxes(
    const Shape& input) const {
  if (!axis) return std::vector<int>();
  return ExampleAxes(*axis, input);
}

absl::StatusOr<Shape> Normalization::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  ASSIGN_OR_RETURN(const std::vector<int> kept, KeptAxes(input));
  if (mean.has_value() != variance.has_value()) {
    return absl::InvalidArgumentError(
        "expected both mean and variance, or none of them");
  }
  if (!mean) return input;
  if (mean->values.size() != variance->values.size()) {
    return absl::InvalidArgumentError(
        "expected as many numbers in mean as in variance");
  }
  const int64_t channels = kept.empty() ? 1 : input[kept.back()];
  RETURN_IF_ERROR(CheckChannelNumbers("mean", *mean, channels, input));
  return input;
}

std::vector<VariableSpec> Normalization::Variables(
    absl::Span<const Shape> inputs) const {
  if (mean) return {};
  const std::vector<int> kept = *KeptAxes(inputs[0]);
  Shape shape;
  for (const int axis : kept) shape.push_back(inputs[0][axis]);
  constexpr auto kNone = VariableUpdate::kNone;
  return {
      {"mean", shape, ZerosInitializer(), Regularizer(), Constraint(), kNone},
      {"variance", shape, OnesInitializer(), Regularizer(), Constraint(),
       kNone},
      {"count", {}, ZerosInitializer(), Regularizer(), Constraint(), kNone}};
}

LoweredLayer Normalization::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const Shape example(x.shape().begin() + 1, x.shape().end());
  const std::vector<int> kept = *KeptAxes(example);
  op::Tensor center;
  op::Tensor deviation;
  if (mean) {
    const auto constants = [&](std::vector<double> values) {
      Shape shape(example.size(), 1);
      if (!kept.empty()) {
        shape[kept.back()] = static_cast<int64_t>(values.size());
      }
      return op::Reshape(
          op::Constants(x.function(), x.data_type(), std::move(values)), shape);
    };
    std::vector<double> deviations;
    for (const double each : variance->values) {
      deviations.push_back(std::max(std::sqrt(each), kLeastDeviation));
    }
    center = constants(mean->values);
    deviation = constants(std::move(deviations));
  } else {
    Shape shape(example.size(), 1);
    for (const int axis : kept) shape[axis] = example[axis];
    center = op::Reshape(call.variables[0], shape);
    deviation = op::Maximum(op::Sqrt(op::Reshape(call.variables[1], shape)),
                            kLeastDeviation);
  }
  if (invert) return x * deviation + center;
  return (x - center) / deviation;
}

}  // namespace paceline
