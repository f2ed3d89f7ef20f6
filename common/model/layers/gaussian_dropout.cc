#include "common/model/layers/gaussian_dropout.h"

#include <cmath>

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/dropout_layer.h"
#include "common/operations/binary_map.h"
#include "common/operations/random.h"

namespace paceline {

const FieldTable<GaussianDropout>& GaussianDropout::Fields() {
  static const auto& table = *new FieldTable<GaussianDropout>(
      kClassName, "Multiplies by normal noise in training.",
      LayerFields<GaussianDropout>(
          {RateField<GaussianDropout>(), SeedField<GaussianDropout>()}));
  return table;
}

op::Tensor GaussianDropout::Noised(const op::Tensor& x, uint64_t key) const {
  const double stddev = std::sqrt(rate / (1 - rate));
  const op::Tensor noise = op::RandomNormal(x.function(), x.type(), key);
  return x * (noise * stddev + 1);
}

}  // namespace paceline
