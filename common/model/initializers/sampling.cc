#include "common/model/initializers/sampling.h"

#include <array>
#include <cmath>
#include <numbers>

#include "common/model/philox.h"

namespace paceline {
namespace {

// 53 bits of two words, as a multiple of 2^-53 in [0, 1).
double ToUnit(uint32_t high, uint32_t low) {
  const uint64_t bits = (uint64_t{high} << 32 | low) >> 11;
  return std::ldexp(static_cast<double>(bits), -53);
}

double BoxMuller(uint64_t key, int64_t index, uint64_t attempt) {
  const std::array<uint32_t, 4> words =
      Philox(key, static_cast<uint64_t>(index), attempt);
  const double u = 1 - ToUnit(words[0], words[1]);  // In (0, 1].
  const double angle = 2 * std::numbers::pi * ToUnit(words[2], words[3]);
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

}  // namespace

double UniformSample(uint64_t philox_key, int64_t index) {
  const std::array<uint32_t, 4> words =
      Philox(philox_key, static_cast<uint64_t>(index), 0);
  return ToUnit(words[0], words[1]);
}

double NormalSample(uint64_t philox_key, int64_t index) {
  return BoxMuller(philox_key, index, 0);
}

double TruncatedNormalSample(uint64_t philox_key, int64_t index) {
  constexpr double kBound = 2;
  for (uint64_t attempt = 0;; ++attempt) {
    const double sample = BoxMuller(philox_key, index, attempt);
    if (std::abs(sample) <= kBound) return sample;
  }
}

}  // namespace paceline
