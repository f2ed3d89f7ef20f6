// exp for vectorised loops; the C library's exp is a function call per element.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_EXP_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_EXP_H_

#include <bit>
#include <cstdint>

namespace paceline::cpu {

// e^x within two units in the last place; 0 below -104, infinite above 89, NaN
// of NaN. Results below 1.2e-38 may be 0.
//
// x = n · ln 2 + r with a whole n and |r| <= ln 2 / 2, so e^x = 2^n · e^r. The
// polynomial of e^r, and ln 2 in two parts that keep r exact, are those of
// expf in the Cephes library (Moshier, 1989).
[[gnu::always_inline]] inline float VectorExp(float x) {
  constexpr float kLog2OfE = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  // At this magnitude a float has no fraction: adding it rounds to the nearest
  // integer, and leaves n in the last bits.
  constexpr float kRounder = 12582912.0f;
  x = x < -104 ? -104 : x;
  x = x > 89 ? 89 : x;
  const float rounded = x * kLog2OfE + kRounder;
  const float n = rounded - kRounder;
  const float r = x - n * kLn2High - n * kLn2Low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  // As two factors, since 2^128 and 2^-150 are no normal floats.
  const int32_t exponent =
      std::bit_cast<int32_t>(rounded) - std::bit_cast<int32_t>(kRounder);
  const int32_t half = exponent >> 1;
  const auto power_of_2 = [](int32_t k) __attribute__((always_inline)) {
    return std::bit_cast<float>((k + 127) << 23);
  };
  return p * power_of_2(half) * power_of_2(exponent - half);
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_EXP_H_
