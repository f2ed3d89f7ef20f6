#include "common/model/layers/masking.h"

#include <memory>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/mask_layers.h"
#include "common/model/shape_rule.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<Masking>& Masking::Fields() {
  static const auto& table = *new FieldTable<Masking>(
      kClassName, "Masks the steps whose numbers all have one value.",
      LayerFields<Masking>({Optional("mask_value", &Masking::mask_value,
                                     "The value of padding.")}));
  return table;
}

absl::StatusOr<Shape> Masking::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckRank(inputs[0], 1));
  return inputs[0];
}

LoweredLayer Masking::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const op::Tensor counts = op::Greater(AnyDiffers(x, mask_value), 0.5);
  return op::Select(counts, x, op::ConstantLike(x, 0));
}

absl::StatusOr<OutputMask> Masking::ComputeMask(
    const MaskedCall& /*call*/) const {
  return OutputMask{.kind = OutputMask::Kind::kFromInput,
                    .layer = std::make_unique<DiffersMask>(
                        mask_value, /*over_last_axis=*/true),
                    .operation_count = 2};
}

}  // namespace paceline
