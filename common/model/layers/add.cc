#include "common/model/layers/add.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/merge.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Add>& Add::Fields() {
  static const auto& table = *new FieldTable<Add>(
      kClassName, "Sum of its inputs.", LayerFields<Add>({}));
  return table;
}

absl::StatusOr<Shape> Add::OutputShape(absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

LoweredLayer Add::Lower(const LayerCall& call) const {
  const std::vector<op::Tensor> inputs = WithEqualRanks(call.inputs);
  op::Tensor sum = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) sum = sum + inputs[i];
  return sum;
}

}  // namespace paceline
