#include "common/model/layers/global_average_pooling1d.h"

#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<GlobalAveragePooling1D>& GlobalAveragePooling1D::Fields() {
  static const auto& table = *new FieldTable<GlobalAveragePooling1D>(
      kClassName, "Mean of a sequence over its steps.",
      GlobalPoolingFields<GlobalAveragePooling1D>("sequences"));
  return table;
}

absl::StatusOr<OutputMask> GlobalAveragePooling1D::ComputeMask(
    const MaskedCall& call) const {
  RETURN_IF_ERROR(CheckStepMask(call.inputs[0], call.masks[0]));
  return OutputMask();
}

absl::Status GlobalAveragePooling1D::CheckInput(const Shape& input) const {
  return CheckSequence(input);
}

op::Tensor GlobalAveragePooling1D::Reduced(const LayerCall& call,
                                           std::vector<int> axes) const {
  const op::Tensor& x = call.inputs[0];
  const std::optional<op::Tensor> counts =
      call.MaskOf(0, {x.dimension(0), x.dimension(1), 1});
  if (!counts) return op::Mean(x, std::move(axes));
  const op::Tensor sum =
      op::Sum(op::Select(*counts, x, op::ConstantLike(x, 0)), axes);
  return sum / op::Sum(op::Cast(*counts, x.data_type()), axes);
}

}  // namespace paceline
