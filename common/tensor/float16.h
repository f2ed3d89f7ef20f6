// 16-bit floating-point types: IEEE 754 binary16, and bfloat16, the upper half
// of a float32. All conversions round to nearest, ties to even; NaN stays NaN.
//
// Without branches, so that loops are vectorised, and constexpr, so that GPUs
// can run them.
#ifndef PACELINE_COMMON_TENSOR_FLOAT16_H_
#define PACELINE_COMMON_TENSOR_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace paceline {

[[gnu::always_inline]] constexpr uint16_t BFloat16Of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  // A NaN keeps its upper bits, plus one bit that rounding cannot remove.
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  const uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1);
  return static_cast<uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

[[gnu::always_inline]] constexpr float FloatOfBFloat16(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

[[gnu::always_inline]] constexpr uint16_t Float16Of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  // Results below 2^-14 are denormal: adding 0.5 aligns their 10 bits with the
  // lowest bits of a float's mantissa, and rounds them.
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
      std::bit_cast<uint32_t>(0.5f);
  // Otherwise change the exponent's bias from 127 to 15, and round 13 bits
  // away.
  const uint32_t normal =
      (magnitude - ((127u - 15u) << 23) + 0xFFFu + ((magnitude >> 13) & 1)) >>
      13;
  const uint32_t finite = magnitude < (113u << 23) ? denormal : normal;
  const uint32_t special = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;
  // 65520 and above round to infinity.
  return static_cast<uint16_t>(sign |
                               (magnitude >= 0x477FF000u ? special : finite));
}

[[gnu::always_inline]] constexpr float FloatOfFloat16(uint16_t value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(value & 0x7FFFu) << 13;
  const uint32_t exponent = magnitude & (0x1Fu << 23);
  const uint32_t normal = magnitude + ((127u - 15u) << 23);
  // Infinity and NaN: the largest exponent stays the largest.
  const uint32_t special = normal + ((128u - 16u) << 23);
  const float denormal =
      std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
  const uint32_t bits = exponent == (0x1Fu << 23) ? special
                        : exponent == 0 ? std::bit_cast<uint32_t>(denormal)
                                        : normal;
  return std::bit_cast<float>(bits | sign);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSOR_FLOAT16_H_
