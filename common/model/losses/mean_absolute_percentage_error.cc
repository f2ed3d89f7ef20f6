#include "common/model/losses/mean_absolute_percentage_error.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<MeanAbsolutePercentageError>&
MeanAbsolutePercentageError::Fields() {
  static const auto& table = *new FieldTable<MeanAbsolutePercentageError>(
      kClassName, "Mean of |output - label| in per cent of the label.",
      LossFields<MeanAbsolutePercentageError>({}));
  return table;
}

op::Tensor MeanAbsolutePercentageError::Lower(const op::Tensor& input,
                                              const op::Tensor& labels,
                                              bool /*from_logits*/) const {
  const op::Tensor size = op::Maximum(op::Abs(labels), kEpsilon);
  return op::Abs((labels - input) / size) * 100;
}

}  // namespace paceline
