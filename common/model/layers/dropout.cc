#include "common/model/layers/dropout.h"

#include "common/config/field_table.h"
#include "common/model/dropout_mask.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"
#include "common/operations/random.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<Dropout>& Dropout::Fields() {
  static const auto& table = *new FieldTable<Dropout>(
      kClassName, "Drops elements at random in training.",
      LayerFields<Dropout>(
          {Required("rate", &Dropout::rate, Within(0, 1),
                    "Share of elements that are dropped."),
           Optional("seed", &Dropout::seed, "Instead of the job's seed."),
           Only("noise_shape", nullptr, "Shape of the mask.")}));
  return table;
}

absl::StatusOr<Shape> Dropout::OutputShape(
    absl::Span<const Shape> inputs) const {
  return inputs[0];
}

LoweredLayer Dropout::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (!call.is_training) return x;
  const op::Tensor is_kept = op::DropoutMask(x.function(), x.shape(), rate,
                                             DropoutKey(*this, call.seed));
  const op::Tensor zero = op::ConstantLike(x, 0);
  return op::Select(is_kept, x * (1 / (1 - rate)), zero);
}

}  // namespace paceline
