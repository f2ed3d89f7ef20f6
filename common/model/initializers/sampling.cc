#include "common/model/initializers/sampling.h"

namespace paceline {

double UniformSample(uint64_t philox_key, int64_t index) {
  const std::array<uint32_t, 4> words =
      Philox(philox_key, static_cast<uint64_t>(index), 0);
  return ToUnit(words[0], words[1]);
}

double TruncatedNormalSample(uint64_t philox_key, int64_t index) {
  constexpr double kBound = 2;
  for (uint64_t attempt = 0;; ++attempt) {
    const double sample = NormalSample(philox_key, index, attempt);
    if (std::abs(sample) <= kBound) return sample;
  }
}

}  // namespace paceline
