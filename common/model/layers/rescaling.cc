#include "common/model/layers/rescaling.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"

namespace paceline {

const FieldTable<Rescaling>& Rescaling::Fields() {
  static const auto& table = *new FieldTable<Rescaling>(
      kClassName, "Numbers in another range.",
      LayerFields<Rescaling>(
          {Required("scale", &Rescaling::scale,
                    "Factor, or one for each channel."),
           Optional("offset", &Rescaling::offset,
                    "What is added then, or one for each channel.")}));
  return table;
}

absl::StatusOr<Shape> Rescaling::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  RETURN_IF_ERROR(CheckRank(input, 1));
  RETURN_IF_ERROR(CheckChannelNumbers("scale", scale, input.back(), input));
  RETURN_IF_ERROR(CheckChannelNumbers("offset", offset, input.back(), input));
  return input;
}

LoweredLayer Rescaling::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  op::Function& function = x.function();
  const op::Tensor factors =
      op::Constants(function, x.data_type(), scale.values);
  const op::Tensor terms =
      op::Constants(function, x.data_type(), offset.values);
  return x * factors + terms;
}

}  // namespace paceline
