#include "common/model/layers/global_max_pooling2d.h"

#include <utility>

#include "common/config/field_table.h"
#include "common/model/shape_rule.h"
#include "common/operations/reduce.h"

namespace paceline {

const FieldTable<GlobalMaxPooling2D>& GlobalMaxPooling2D::Fields() {
  static const auto& table = *new FieldTable<GlobalMaxPooling2D>(
      kClassName, "Largest element of an image over height and width.",
      GlobalPoolingFields<GlobalMaxPooling2D>("images"));
  return table;
}

absl::Status GlobalMaxPooling2D::CheckInput(const Shape& input) const {
  return CheckImage(input);
}

op::Tensor GlobalMaxPooling2D::Reduced(const LayerCall& call,
                                       std::vector<int> axes) const {
  return op::Max(call.inputs[0], std::move(axes));
}

}  // namespace paceline
