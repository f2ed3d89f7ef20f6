#include "common/model/losses/mean_absolute_error.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"

namespace paceline {

const FieldTable<MeanAbsoluteError>& MeanAbsoluteError::Fields() {
  static const auto& table = *new FieldTable<MeanAbsoluteError>(
      kClassName, "Mean of |output - label|.",
      LossFields<MeanAbsoluteError>({}));
  return table;
}

op::Tensor MeanAbsoluteError::Lower(const op::Tensor& input,
                                    const op::Tensor& labels,
                                    bool /*from_logits*/) const {
  return op::Abs(input - labels);
}

}  // namespace paceline
