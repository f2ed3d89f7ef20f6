#include "common/model/losses/hinge.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/reduce.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

// Labels of -1 and 1.
op::Tensor SignedLabels(const op::Tensor& labels) {
  const op::Tensor is_zero = op::Equal(labels, 0);
  const op::Tensor is_bit = op::Or(is_zero, op::Equal(labels, 1));
  const op::Tensor others =
      op::SumAll(op::Cast(op::Not(is_bit), labels.data_type()));
  const op::Tensor signs = labels * 2 - 1;
  return op::Select(op::Equal(others, 0), signs, labels);
}

}  // namespace

const FieldTable<Hinge>& Hinge::Fields() {
  static const auto& table = *new FieldTable<Hinge>(
      kClassName, "Mean of max(1 - label output, 0) for labels of -1 and 1.",
      LossFields<Hinge>({}));
  return table;
}

op::Tensor Hinge::Lower(const op::Tensor& input, const op::Tensor& labels,
                        bool /*from_logits*/) const {
  return HingeErrors(input, labels);
}

op::Tensor HingeErrors(const op::Tensor& input, const op::Tensor& labels) {
  return op::Maximum(1 - SignedLabels(labels) * input, 0);
}

}  // namespace paceline
