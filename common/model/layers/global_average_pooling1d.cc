#include "common/model/layers/global_average_pooling1d.h"

#include <utility>

#include "common/config/field_table.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<GlobalAveragePooling1D>& GlobalAveragePooling1D::Fields() {
  static const auto& table = *new FieldTable<GlobalAveragePooling1D>(
      kClassName, "Mean of a sequence over its steps.",
      GlobalPoolingFields<GlobalAveragePooling1D>("sequences"));
  return table;
}

absl::Status GlobalAveragePooling1D::CheckInput(const Shape& input) const {
  return CheckSequence(input);
}

op::Tensor GlobalAveragePooling1D::Reduced(const op::Tensor& x,
                                           std::vector<int> axes) const {
  return op::Mean(x, std::move(axes));
}

}  // namespace paceline
