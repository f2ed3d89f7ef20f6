#include "common/model/layers/multiply.h"

#include <optional>

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<Multiply>& Multiply::Fields() {
  static const auto& table = *new FieldTable<Multiply>(
      kClassName, "Product of its inputs, element by element.",
      LayerFields<Multiply>({}));
  return table;
}

// Source: keras/src/layers/merging/multiply.py.
LoweredLayer Multiply::Lower(const LayerCall& call) const {
  if (call.masks.empty()) return MergeLayer::Lower(call);
  std::optional<op::Tensor> product;
  std::optional<op::Tensor> counts;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    op::Tensor x = call.inputs[i];
    if (const auto mask = MaskOfElements(call, static_cast<int>(i))) {
      x = op::Select(*mask, x, op::ConstantLike(x, 1));
      counts = counts ? op::Or(*counts, *mask) : *mask;
    }
    product = product ? *product * x : x;
  }
  if (call.masks.size() < call.inputs.size()) return *product;
  return op::Select(*counts, *product, op::ConstantLike(*product, 0));
}

op::Tensor Multiply::Merge(const op::Tensor& a, const op::Tensor& b) const {
  return a * b;
}

}  // namespace paceline
