#include "common/model/layers/alpha_dropout.h"

#include <cmath>

#include "common/config/field_table.h"
#include "common/model/activation_operations.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"
#include "common/operations/select.h"

namespace paceline {

const FieldTable<AlphaDropout>& AlphaDropout::Fields() {
  static const auto& table = *new FieldTable<AlphaDropout>(
      kClassName, "Drops elements at random in training, for SELU.",
      LayerFields<AlphaDropout>(DropoutFields<AlphaDropout>()));
  return table;
}

op::Tensor AlphaDropout::Noised(const op::Tensor& x, uint64_t key) const {
  const double limit = -kSeluScale * kSeluAlpha;
  const double factor = 1 / std::sqrt((1 - rate) * (1 + rate * limit * limit));
  const op::Tensor is_kept = IsKept(x, key);
  const op::Tensor dropped = op::ConstantLike(x, limit);
  return op::Select(is_kept, x, dropped) * factor - factor * limit * rate;
}

}  // namespace paceline
