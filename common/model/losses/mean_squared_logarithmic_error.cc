#include "common/model/losses/mean_squared_logarithmic_error.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<MeanSquaredLogarithmicError>&
MeanSquaredLogarithmicError::Fields() {
  static const auto& table = *new FieldTable<MeanSquaredLogarithmicError>(
      kClassName, "Mean of (log(1 + output) - log(1 + label))².",
      LossFields<MeanSquaredLogarithmicError>({}));
  return table;
}

op::Tensor MeanSquaredLogarithmicError::Lower(const op::Tensor& input,
                                              const op::Tensor& labels,
                                              bool /*from_logits*/) const {
  const auto logarithm = [](const op::Tensor& x) {
    return op::Log(op::Maximum(x, kEpsilon) + 1);
  };
  const op::Tensor of_output = logarithm(input);
  const op::Tensor difference = of_output - logarithm(labels);
  return difference * difference;
}

}  // namespace paceline
