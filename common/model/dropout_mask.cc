#include "common/model/dropout_mask.h"

#include <cmath>

namespace paceline {

uint64_t DropoutKey(const Dropout& layer, uint64_t job_seed) {
  const uint64_t seed =
      layer.seed.has_value() ? static_cast<uint64_t>(*layer.seed) : job_seed;
  return PhiloxKey({.seed = seed, .stream = StableHash(layer.name)});
}

DropoutMask::DropoutMask(double rate, uint64_t key)
    : DropoutMask(key,
                  static_cast<uint64_t>(std::llround(std::ldexp(rate, 32)))) {}

}  // namespace paceline
