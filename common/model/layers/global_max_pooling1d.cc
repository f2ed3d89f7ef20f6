#include "common/model/layers/global_max_pooling1d.h"

#include <utility>

#include "common/config/field_table.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<GlobalMaxPooling1D>& GlobalMaxPooling1D::Fields() {
  static const auto& table = *new FieldTable<GlobalMaxPooling1D>(
      kClassName, "Largest element of a sequence over its steps.",
      GlobalPoolingFields<GlobalMaxPooling1D>("sequences"));
  return table;
}

absl::Status GlobalMaxPooling1D::CheckInput(const Shape& input) const {
  return CheckSequence(input);
}

op::Tensor GlobalMaxPooling1D::Reduced(const LayerCall& call,
                                       std::vector<int> axes) const {
  return op::Max(call.inputs[0], std::move(axes));
}

}  // namespace paceline
