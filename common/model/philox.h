// Random numbers by counter: the same key and counter give the same number in
// every process, in any order.
//
// Philox4x32-10 of Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy
// as 1, 2, 3 (SC 2011).
#ifndef PACELINE_COMMON_MODEL_PHILOX_H_
#define PACELINE_COMMON_MODEL_PHILOX_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace paceline {

// Names a stream of random numbers.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t stream = 0;
};

// 128 bits for a key and a counter. Cheap enough to be called for each element.
std::array<uint32_t, 4> Philox(uint64_t key, uint64_t counter_low,
                               uint64_t counter_high);

// A Philox key that depends on all bits of both: SplitMix64 over them.
uint64_t MixKey(uint64_t a, uint64_t b);
inline uint64_t PhiloxKey(RandomKey key) {
  return MixKey(key.seed, key.stream);
}

// FNV-1a, 64 bits: the same in every process and version.
uint64_t StableHash(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_PHILOX_H_
