#include "common/model/layers/cropping2d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"

namespace paceline {

const FieldTable<Cropping2D>& Cropping2D::Fields() {
  static const auto& table = *new FieldTable<Cropping2D>(
      kClassName, "Images without their borders.",
      LayerFields<Cropping2D>(
          {Optional("cropping", &Cropping2D::cropping, Between(0, kMaxWindow),
                    "One for all sides; of height and width; or [[top, "
                    "bottom], [left, right]]."),
           Only("data_format", "channels_last", "Layout of images.")}));
  return table;
}

absl::StatusOr<Shape> Cropping2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckImage(inputs[0]));
  return CroppedShape(inputs[0], cropping);
}

LoweredLayer Cropping2D::Lower(const LayerCall& call) const {
  return Cropped(call.inputs[0], cropping);
}

}  // namespace paceline
