#include "common/model/layers/add.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Add>& Add::Fields() {
  static const auto& table = *new FieldTable<Add>(
      kClassName, "Sum of its inputs.", LayerFields<Add>({}));
  return table;
}

op::Tensor Add::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return a + b;
}

}  // namespace paceline
