#include "common/model/losses/dice.h"

#include "common/config/field_table.h"
#include "common/model/losses/axis_sums.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<Dice>& Dice::Fields() {
  static const auto& table = *new FieldTable<Dice>(
      kClassName,
      "One minus the overlap of output and label in their mean size.",
      LossFields<Dice>({SumAxisField<Dice>()}));
  return table;
}

absl::Status Dice::CheckOutput(const Shape& output) const {
  return CheckSumAxes(axis, output);
}

op::Tensor Dice::Lower(const op::Tensor& input, const op::Tensor& labels,
                       bool /*from_logits*/) const {
  const AxisSums sums(axis, input);
  const op::Tensor overlap = sums.Of(labels * input) * 2;
  const op::Tensor of_labels = sums.Of(labels);
  const op::Tensor size = of_labels + sums.Of(input) + kEpsilon;
  return sums.LossOf(1 - overlap / size);
}

}  // namespace paceline
