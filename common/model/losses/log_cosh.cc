#include "common/model/losses/log_cosh.h"

#include <numbers>

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<LogCosh>& LogCosh::Fields() {
  static const auto& table =
      *new FieldTable<LogCosh>(kClassName, "Mean of log(cosh(output - label)).",
                               LossFields<LogCosh>({}));
  return table;
}

op::Tensor LogCosh::Lower(const op::Tensor& input, const op::Tensor& labels,
                          bool /*from_logits*/) const {
  const op::Tensor error = input - labels;
  return error + op::Softplus(error * -2) - std::numbers::ln2;
}

}  // namespace paceline
