#include "common/model/layers/relu.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<ReLU>& ReLU::Fields() {
  static const auto& table = *new FieldTable<ReLU>(
      kClassName, "Rectifier with a bend, a slope and a ceiling.",
      LayerFields<ReLU>({Optional("max_value", &ReLU::max_value, AtLeast(0),
                                  "Ceiling; null: none."),
                         Optional("negative_slope", &ReLU::negative_slope,
                                  AtLeast(0), "Slope below the threshold."),
                         Optional("threshold", &ReLU::threshold, AtLeast(0),
                                  "Where the bend is.")}));
  return table;
}

absl::StatusOr<Shape> ReLU::OutputShape(absl::Span<const Shape> inputs) const {
  return inputs[0];
}

// Keras has one operation for a slope alone, else adds up that of each side,
// which is 0 at the bend.
double ReLU::derivative_at_threshold() const {
  return max_value || threshold != 0 ? 0 : negative_slope;
}

LoweredLayer ReLU::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (threshold == 0 && negative_slope == 0 && !max_value) return op::Relu(x);
  op::Tensor above = x;
  if (max_value) {
    const op::Tensor ceiling = op::ConstantLike(x, *max_value);
    above = op::Select(op::GreaterEqual(x, ceiling), ceiling, x);
  }
  op::Tensor below = (x - threshold) * negative_slope;
  if (derivative_at_threshold() == 0) {
    const op::Tensor zero = op::ConstantLike(x, 0);
    below = op::Select(op::Equal(x, threshold), zero, below);
  }
  return op::Select(op::Greater(x, threshold), above, below);
}

}  // namespace paceline
