#include "common/model/layers/global_average_pooling2d.h"

#include <utility>

#include "common/config/field_table.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<GlobalAveragePooling2D>& GlobalAveragePooling2D::Fields() {
  static const auto& table = *new FieldTable<GlobalAveragePooling2D>(
      kClassName, "Mean of an image over height and width.",
      GlobalPoolingFields<GlobalAveragePooling2D>("images"));
  return table;
}

absl::Status GlobalAveragePooling2D::CheckInput(const Shape& input) const {
  return CheckImage(input);
}

op::Tensor GlobalAveragePooling2D::Reduced(const LayerCall& call,
                                           std::vector<int> axes) const {
  return op::Mean(call.inputs[0], std::move(axes));
}

}  // namespace paceline
