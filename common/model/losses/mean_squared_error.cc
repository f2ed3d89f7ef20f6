#include "common/model/losses/mean_squared_error.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<MeanSquaredError>& MeanSquaredError::Fields() {
  static const auto& table = *new FieldTable<MeanSquaredError>(
      kClassName, "Mean of (output - label)².",
      LossFields<MeanSquaredError>({}));
  return table;
}

op::Tensor MeanSquaredError::Lower(const op::Tensor& input,
                                   const op::Tensor& labels,
                                   bool /*from_logits*/) const {
  const op::Tensor difference = input - labels;
  return difference * difference;
}

}  // namespace paceline
