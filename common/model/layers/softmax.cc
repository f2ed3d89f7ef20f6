#include "common/model/layers/softmax.h"

#include <numeric>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/softmax.h"
#include "common/operations/transpose.h"

namespace paceline {

const FieldTable<Softmax>& Softmax::Fields() {
  static const auto& table = *new FieldTable<Softmax>(
      kClassName, "Softmax along an axis.",
      LayerFields<Softmax>({Optional(
          "axis", &Softmax::axis, "Counts the batch as 0, or from the end.")}));
  return table;
}

absl::StatusOr<Shape> Softmax::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckAxis(axis, inputs[0]));
  return inputs[0];
}

ActivationFunction Softmax::final_activation() const {
  // A loss reads logits along the last axis.
  return axis == -1 ? ActivationFunction::kSoftmax
                    : ActivationFunction::kLinear;
}

LoweredLayer Softmax::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (final_activation() == ActivationFunction::kSoftmax) return x;
  // Its own inverse.
  std::vector<int> swap(x.rank());
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[1 + ExampleAxis(axis, swap.size() - 1)], swap.back());
  return op::Transpose(op::Softmax(op::Transpose(x, swap)), swap);
}

}  // namespace paceline
