#include "common/model/layers/zero_padding1d.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/model/window.h"

namespace paceline {

const FieldTable<ZeroPadding1D>& ZeroPadding1D::Fields() {
  static const auto& table = *new FieldTable<ZeroPadding1D>(
      kClassName, "Zeros around sequences.",
      LayerFields<ZeroPadding1D>(
          {Optional("padding", &ZeroPadding1D::padding, Between(0, kMaxWindow),
                    "One for both ends; or [before, after]."),
           NotWritten(
               Only("data_format", "channels_last", "Layout of sequences."))}));
  return table;
}

absl::StatusOr<Shape> ZeroPadding1D::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckSequence(inputs[0]));
  return PaddedShape(inputs[0], {padding});
}

LoweredLayer ZeroPadding1D::Lower(const LayerCall& call) const {
  return Padded(call.inputs[0], {padding});
}

}  // namespace paceline
