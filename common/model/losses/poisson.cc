#include "common/model/losses/poisson.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<Poisson>& Poisson::Fields() {
  static const auto& table = *new FieldTable<Poisson>(
      kClassName,
      "Negative log-likelihood of counts: output - label log output.",
      LossFields<Poisson>({}));
  return table;
}

op::Tensor Poisson::Lower(const op::Tensor& input, const op::Tensor& labels,
                          bool /*from_logits*/) const {
  return input - labels * op::Log(input + kEpsilon);
}

}  // namespace paceline
