#include "common/model/layers/layer_normalization.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/group_normalization.h"
#include "common/operations/reshape.h"

namespace paceline {

const FieldTable<LayerNormalization>& LayerNormalization::Fields() {
  using Self = LayerNormalization;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Normalization by the mean and variance of each example.",
      LayerFields<Self>(Joined<Self>(
          {{Optional("axis", &Self::axis,
                     "What is normalized together: the last axes.")},
           NormalizationFields<Self>(),
           {Only("rms_scaling", false, "Whether the mean stays.")},
           BetaAndGammaFields<Self>()})));
  return table;
}

absl::StatusOr<Shape> LayerNormalization::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  ASSIGN_OR_RETURN(const std::vector<int> axes, ExampleAxes(axis, input));
  if (axes.empty() || axes.front() + axes.size() != input.size()) {
    return absl::UnimplementedError(absl::StrCat(
        "axis [", absl::StrJoin(axis, ", "), "] of input shape ",
        ShapeToString(input), " is not supported yet; only the last axes are"));
  }
  return input;
}

std::vector<VariableSpec> LayerNormalization::Variables(
    absl::Span<const Shape> inputs) const {
  return GammaAndBeta(NormalizedShape(inputs[0]));
}

Shape LayerNormalization::NormalizedShape(const Shape& input) const {
  return Shape(input.end() - static_cast<int64_t>(axis.size()), input.end());
}

LoweredLayer LayerNormalization::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  // Each row has its own statistics.
  const int64_t size = NumElements(NormalizedShape(x.shape()));
  const op::Tensor rows = op::Reshape(x, {x.count() / size, 1, size});
  std::optional<op::Tensor> gamma;
  if (scale) gamma = op::Reshape(call.variables.front(), {size});
  std::optional<op::Tensor> beta;
  if (center) beta = op::Reshape(call.variables.back(), {size});
  return op::Reshape(
      op::GroupNormalization(rows, gamma, beta, /*groups=*/1, epsilon),
      x.shape());
}

}  // namespace paceline
