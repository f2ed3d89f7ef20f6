#include "common/model/losses/kl_divergence.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<KLDivergence>& KLDivergence::Fields() {
  static const auto& table = *new FieldTable<KLDivergence>(
      kClassName, "Kullback-Leibler divergence of the output from the labels.",
      LossFields<KLDivergence>({}));
  return table;
}

op::Tensor KLDivergence::Lower(const op::Tensor& input,
                               const op::Tensor& labels,
                               bool /*from_logits*/) const {
  const op::Tensor y = op::Clip(labels, kEpsilon, 1);
  const op::Tensor p = op::Clip(input, kEpsilon, 1);
  return op::Sum(y * op::Log(y / p), {input.rank() - 1});
}

}  // namespace paceline
