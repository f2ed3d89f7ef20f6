#include "common/model/layers/multiply.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Multiply>& Multiply::Fields() {
  static const auto& table = *new FieldTable<Multiply>(
      kClassName, "Product of its inputs, element by element.",
      LayerFields<Multiply>({}));
  return table;
}

op::Tensor Multiply::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return a * b;
}

}  // namespace paceline
