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

// The derivatives at kinks are those that Keras computes with TensorFlow. At
// `max_value` the derivative is 1, except for relu6, for which TensorFlow has
// an operation of its own. At `threshold` it is the slope if there is nothing
// but a slope, for which TensorFlow also has an operation (LeakyRelu);
// otherwise it is 0.
LoweredLayer ReLU::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (threshold == 0 && negative_slope == 0 && !max_value) return op::Relu(x);
  const op::Tensor zero = op::ConstantLike(x, 0);
  op::Tensor above = x;
  if (max_value) {
    const op::Tensor ceiling = op::ConstantLike(x, *max_value);
    const op::Tensor is_cut = *max_value == 6 && threshold == 0
                                  ? op::GreaterEqual(x, ceiling)
                                  : op::Greater(x, ceiling);
    above = op::Select(is_cut, ceiling, x);
  }
  if (negative_slope == 0) {
    // NaN stays NaN.
    const op::Tensor below = op::Select(op::Equal(x, x), zero, x);
    return op::Select(op::Greater(x, threshold), above, below);
  }
  op::Tensor below = (x - threshold) * negative_slope;
  if (max_value || threshold != 0) {
    below = op::Select(op::Equal(x, threshold), zero, below);
  }
  return op::Select(op::Greater(x, threshold), above, below);
}

}  // namespace paceline
