#include "common/model/losses/categorical_hinge.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/model/row_max.h"
#include "common/operations/binary_map.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<CategoricalHinge>& CategoricalHinge::Fields() {
  static const auto& table = *new FieldTable<CategoricalHinge>(
      kClassName,
      "Hinge between the class of the label and the best other one.",
      LossFields<CategoricalHinge>({}));
  return table;
}

op::Tensor CategoricalHinge::Lower(const op::Tensor& input,
                                   const op::Tensor& labels,
                                   bool /*from_logits*/) const {
  const op::Tensor of_label = op::Sum(labels * input, {input.rank() - 1});
  const op::Tensor of_others = RowMax((1 - labels) * input);
  return op::Maximum(of_others - of_label + 1, 0);
}

}  // namespace paceline
