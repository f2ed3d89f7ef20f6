#include "common/model/layers/minimum.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Minimum>& Minimum::Fields() {
  static const auto& table = *new FieldTable<Minimum>(
      kClassName, "Smallest of its inputs, element by element.",
      LayerFields<Minimum>({}));
  return table;
}

op::Tensor Minimum::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return op::Minimum(a, b);
}

}  // namespace paceline
