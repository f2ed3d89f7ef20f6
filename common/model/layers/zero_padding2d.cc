#include "common/model/layers/zero_padding2d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"

namespace paceline {

const FieldTable<ZeroPadding2D>& ZeroPadding2D::Fields() {
  static const auto& table = *new FieldTable<ZeroPadding2D>(
      kClassName, "Zeros around images.",
      LayerFields<ZeroPadding2D>(
          {Optional("padding", &ZeroPadding2D::padding, Between(0, kMaxWindow),
                    "One for all sides; of height and width; or [[top, "
                    "bottom], [left, right]]."),
           Only("data_format", "channels_last", "Layout of images.")}));
  return table;
}

absl::StatusOr<Shape> ZeroPadding2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckImage(inputs[0]));
  return PaddedShape(inputs[0], padding);
}

LoweredLayer ZeroPadding2D::Lower(const LayerCall& call) const {
  return Padded(call.inputs[0], padding);
}

}  // namespace paceline
