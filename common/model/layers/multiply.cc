#include "common/model/layers/multiply.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/merge.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Multiply>& Multiply::Fields() {
  static const auto& table = *new FieldTable<Multiply>(
      kClassName, "Product of its inputs, element by element.",
      LayerFields<Multiply>({}));
  return table;
}

absl::StatusOr<Shape> Multiply::OutputShape(
    absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

LoweredLayer Multiply::Lower(const LayerCall& call) const {
  const std::vector<op::Tensor> inputs = WithEqualRanks(call.inputs);
  op::Tensor product = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) product = product * inputs[i];
  return product;
}

}  // namespace paceline
