// Counter-based random numbers: the same key and counter give the same number
// in every process, in any order.
//
// Philox4x32-10 by Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As
// Easy as 1, 2, 3" (SC 2011).
#ifndef PACELINE_COMMON_MODEL_PHILOX_H_
#define PACELINE_COMMON_MODEL_PHILOX_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace paceline {

// Identifies a stream of random numbers.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t stream = 0;
};

// 128 random bits for a key and a counter. Cheap enough to be called per
// element. constexpr, so that GPUs can run it.
constexpr std::array<uint32_t, 4> Philox(uint64_t key, uint64_t counter_low,
                                         uint64_t counter_high) {
  constexpr int kRounds = 10;
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter_low),
                               static_cast<uint32_t>(counter_low >> 32),
                               static_cast<uint32_t>(counter_high),
                               static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{0xd2511f53} * c[0];
    const uint64_t p1 = uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1,
         static_cast<uint32_t>(p0)};
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return c;
}

constexpr uint64_t SplitMix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A Philox key that depends on all bits of both arguments.
constexpr uint64_t MixKey(uint64_t a, uint64_t b) {
  return SplitMix64(SplitMix64(a) ^ b);
}
constexpr uint64_t PhiloxKey(RandomKey key) {
  return MixKey(key.seed, key.stream);
}

// FNV-1a with 64 bits: the same in every process and version.
uint64_t StableHash(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_PHILOX_H_
