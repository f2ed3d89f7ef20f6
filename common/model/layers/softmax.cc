#include "common/model/layers/softmax.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/softmax.h"

namespace paceline {

const FieldTable<Softmax>& Softmax::Fields() {
  static const auto& table = *new FieldTable<Softmax>(
      kClassName, "Softmax along an axis.",
      LayerFields<Softmax>({Optional(
          "axis", &Softmax::axis, "Counts the batch as 0, or from the end.")}));
  return table;
}

absl::StatusOr<Shape> Softmax::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckAxis(axis, inputs[0]));
  return inputs[0];
}

absl::StatusOr<OutputMask> Softmax::ComputeMask(const MaskedCall& call) const {
  if (!call.masks[0]) return OutputMask();
  return absl::InvalidArgumentError(absl::StrCat(
      "its input ", ShapeToString(call.inputs[0]), " has a mask ",
      ShapeToString(*call.masks[0]),
      ", which Keras would apply to the last axes; expected an input without a "
      "mask (use activation: softmax in the layer before)"));
}

ActivationFunction Softmax::final_activation() const {
  // A loss reads logits only along the last axis.
  return axis == -1 ? ActivationFunction::kSoftmax
                    : ActivationFunction::kLinear;
}

LoweredLayer Softmax::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (final_activation() == ActivationFunction::kSoftmax) return x;
  return op::Softmax(x, 1 + ExampleAxis(axis, x.rank() - 1));
}

}  // namespace paceline
