#include "common/model/layers/spatial_dropout1d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"

namespace paceline {

const FieldTable<SpatialDropout1D>& SpatialDropout1D::Fields() {
  static const auto& table = *new FieldTable<SpatialDropout1D>(
      kClassName, "Drops channels of sequences at random in training.",
      SpatialDropoutFields<SpatialDropout1D>());
  return table;
}

absl::StatusOr<Shape> SpatialDropout1D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckSequence(inputs[0]));
  return inputs[0];
}

}  // namespace paceline
