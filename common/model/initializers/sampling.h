// Samples of distributions, one per index of a stream.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/base/host_device.h"
#include "common/model/philox.h"

namespace paceline {

// 53 bits of two words, as a multiple of 2^-53 in [0, 1).
constexpr double ToUnit(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// Uniform in [0, 1), 53 bits.
double UniformSample(uint64_t philox_key, int64_t index);

// Standard normal, by the Box-Muller transform. Attempts at one index are
// independent.
PACELINE_HOST_DEVICE inline double NormalSample(uint64_t philox_key,
                                                int64_t index,
                                                uint64_t attempt = 0) {
  const std::array<uint32_t, 4> words =
      Philox(philox_key, static_cast<uint64_t>(index), attempt);
  const double u = 1 - ToUnit(words[0], words[1]);  // In (0, 1].
  const double angle = 2 * std::numbers::pi * ToUnit(words[2], words[3]);
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

// Standard normal, conditioned on |x| <= 2.
double TruncatedNormalSample(uint64_t philox_key, int64_t index);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
