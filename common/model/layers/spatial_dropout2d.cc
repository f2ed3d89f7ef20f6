#include "common/model/layers/spatial_dropout2d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<SpatialDropout2D>& SpatialDropout2D::Fields() {
  static const auto& table = *new FieldTable<SpatialDropout2D>(
      kClassName, "Drops channels of images at random in training.",
      Joined<SpatialDropout2D>(
          {SpatialDropoutFields<SpatialDropout2D>(),
           {Only("data_format", "channels_last", "Layout of images.")}}));
  return table;
}

absl::StatusOr<Shape> SpatialDropout2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckImage(inputs[0]));
  return inputs[0];
}

}  // namespace paceline
