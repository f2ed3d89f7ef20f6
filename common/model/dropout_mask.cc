#include "common/model/dropout_mask.h"

#include <cmath>

namespace paceline {

DropoutMask::DropoutMask(const Dropout& layer, uint64_t job_seed)
    : threshold_(
          static_cast<uint64_t>(std::llround(std::ldexp(layer.rate, 32)))),
      scale_(1 / (1 - layer.rate)) {
  const uint64_t seed =
      layer.seed.has_value() ? static_cast<uint64_t>(*layer.seed) : job_seed;
  key_ = PhiloxKey({.seed = seed, .stream = StableHash(layer.name)});
}

}  // namespace paceline
