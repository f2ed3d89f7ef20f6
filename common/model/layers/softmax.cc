#include "common/model/layers/softmax.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

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
  const auto rank = static_cast<int64_t>(inputs[0].size());
  if (axis == 0 || axis > rank || axis < -rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is none of input shape ",
                     ShapeToString(inputs[0]), " (the batch is axis 0)"));
  }
  return inputs[0];
}

int Softmax::AxisOf(int rank) const {
  return static_cast<int>(axis > 0 ? axis - 1 : axis + rank);
}

ActivationFunction Softmax::final_activation() const {
  // A loss reads logits along the last axis.
  return axis == -1 ? ActivationFunction::kSoftmax
                    : ActivationFunction::kLinear;
}

}  // namespace paceline
