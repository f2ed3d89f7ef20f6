#include "common/model/layers/cropping1d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"

namespace paceline {

const FieldTable<Cropping1D>& Cropping1D::Fields() {
  static const auto& table = *new FieldTable<Cropping1D>(
      kClassName, "Sequences without their ends.",
      LayerFields<Cropping1D>(
          {Optional("cropping", &Cropping1D::cropping, Between(0, kMaxWindow),
                    "One for both ends; or [before, after].")}));
  return table;
}

absl::StatusOr<Shape> Cropping1D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckSequence(inputs[0]));
  return CroppedShape(inputs[0], {cropping});
}

LoweredLayer Cropping1D::Lower(const LayerCall& call) const {
  return Cropped(call.inputs[0], {cropping});
}

}  // namespace paceline
