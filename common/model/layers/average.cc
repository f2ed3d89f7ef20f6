#include "common/model/layers/average.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Average>& Average::Fields() {
  static const auto& table = *new FieldTable<Average>(
      kClassName, "Mean of its inputs, element by element.",
      LayerFields<Average>({}));
  return table;
}

LoweredLayer Average::Lower(const LayerCall& call) const {
  const op::Tensor sum = MergeLayer::Lower(call).output;
  return sum / static_cast<double>(call.inputs.size());
}

op::Tensor Average::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return a + b;
}

}  // namespace paceline
