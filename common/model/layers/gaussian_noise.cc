#include "common/model/layers/gaussian_noise.h"

#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/operations/binary_map.h"
#include "common/operations/random.h"

namespace paceline {

const FieldTable<GaussianNoise>& GaussianNoise::Fields() {
  static const auto& table = *new FieldTable<GaussianNoise>(
      kClassName, "Adds normal noise in training.",
      LayerFields<GaussianNoise>(
          {Required("stddev", &GaussianNoise::stddev, Between(0, 1),
                    "Standard deviation of the noise."),
           SeedField<GaussianNoise>()}));
  return table;
}

op::Tensor GaussianNoise::Noised(const op::Tensor& x, uint64_t key) const {
  const op::Tensor noise = op::RandomNormal(x.function(), x.type(), key);
  return x + noise * stddev;
}

}  // namespace paceline
