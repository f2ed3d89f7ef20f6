#include "common/model/layers/subtract.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<Subtract>& Subtract::Fields() {
  static const auto& table =
      *new FieldTable<Subtract>(kClassName, "Its first input minus its second.",
                                LayerFields<Subtract>({}));
  return table;
}

absl::StatusOr<Shape> Subtract::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckTwoInputs(inputs));
  return MergeLayer::OutputShape(inputs);
}

op::Tensor Subtract::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return a - b;
}

}  // namespace paceline
