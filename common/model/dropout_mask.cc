#include "common/model/dropout_mask.h"

#include <array>
#include <cmath>

namespace paceline {

DropoutMask::DropoutMask(const Dropout& layer, uint64_t job_seed, int64_t epoch)
    : threshold_(
          static_cast<uint64_t>(std::llround(std::ldexp(layer.rate, 32)))),
      scale_(1 / (1 - layer.rate)) {
  const uint64_t seed =
      layer.seed.has_value() ? static_cast<uint64_t>(*layer.seed) : job_seed;
  key_ = MixKey(PhiloxKey({.seed = seed, .stream = StableHash(layer.name)}),
                static_cast<uint64_t>(epoch));
}

unsigned DropoutMask::KeptOfBlock(int64_t example, int64_t block) const {
  const std::array<uint32_t, 4> words = Philox(
      key_, static_cast<uint64_t>(block), static_cast<uint64_t>(example));
  unsigned kept = 0;
  for (unsigned i = 0; i < words.size(); ++i) {
    kept |= (words[i] >= threshold_ ? 1u : 0u) << i;
  }
  return kept;
}

}  // namespace paceline
