#include "common/model/losses/squared_hinge.h"

#include "common/config/field_table.h"
#include "common/model/losses/hinge.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<SquaredHinge>& SquaredHinge::Fields() {
  static const auto& table = *new FieldTable<SquaredHinge>(
      kClassName, "Mean of max(1 - label output, 0)² for labels of -1 and 1.",
      LossFields<SquaredHinge>({}));
  return table;
}

op::Tensor SquaredHinge::Lower(const op::Tensor& input,
                               const op::Tensor& labels,
                               bool /*from_logits*/) const {
  const op::Tensor errors = HingeErrors(input, labels);
  return errors * errors;
}

}  // namespace paceline
