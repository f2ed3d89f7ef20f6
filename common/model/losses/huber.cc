#include "common/model/losses/huber.h"

#include "common/config/field_table.h"
#include "common/model/losses/loss_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/map.h"
#include "common/operations/select.h"

namespace paceline {

// Keras' get_config() omits delta, although the constructor takes it. It is
// written here unless it has its default, so that reading the config gives the
// same loss.
const FieldTable<Huber>& Huber::Fields() {
  static const auto& table = *new FieldTable<Huber>(
      kClassName, "Quadratic for errors up to delta, linear beyond.",
      LossFields<Huber>({WrittenUnlessDefault<Huber>(
          Optional("delta", &Huber::delta, Above(0),
                   "The error from which on the loss is linear."))}));
  return table;
}

op::Tensor Huber::Lower(const op::Tensor& input, const op::Tensor& labels,
                        bool /*from_logits*/) const {
  const op::Tensor error = input - labels;
  const op::Tensor size = op::Abs(error);
  const op::Tensor quadratic = error * error * 0.5;
  const op::Tensor linear = (size - delta / 2) * delta;
  return op::Select(op::LessEqual(size, delta), quadratic, linear);
}

}  // namespace paceline
