#include "common/model/layers/global_average_pooling2d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"

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
  RETURN_IF_ERROR(CheckImage(input));
  return keepdims ? Shape{1, 1, input[2]} : Shape{input[2]};
}

LoweredLayer GlobalAveragePooling2D::Lower(const LayerCall& call) const {
  const op::Tensor mean = op::Mean(call.inputs[0], {1, 2});
  if (keepdims) return mean;
  return op::Reshape(mean, {mean.dimension(0), mean.dimension(3)});
}

}  // namespace paceline
