#include "common/model/layers/maximum.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Maximum>& Maximum::Fields() {
  static const auto& table = *new FieldTable<Maximum>(
      kClassName, "Largest of its inputs, element by element.",
      LayerFields<Maximum>({}));
  return table;
}

op::Tensor Maximum::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return op::Maximum(a, b);
}

}  // namespace paceline
