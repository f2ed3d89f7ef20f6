#include "common/model/layers/global_average_pooling2d.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<GlobalAveragePooling2D>& GlobalAveragePooling2D::Fields() {
  static const auto& table = *new FieldTable<GlobalAveragePooling2D>(
      kClassName, "Mean of an image over height and width.",
      LayerFields<GlobalAveragePooling2D>(
          {Only("data_format", "channels_last", "Layout of images."),
           Optional("keepdims", &GlobalAveragePooling2D::keepdims,
                    "Whether height and width stay, as 1.")}));
  return table;
}

absl::StatusOr<Shape> GlobalAveragePooling2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  if (input.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("input must have shape (height, width, channels), got ",
                     ShapeToString(input)));
  }
  return keepdims ? Shape{1, 1, input[2]} : Shape{input[2]};
}

}  // namespace paceline
