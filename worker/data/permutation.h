// A pseudo-random permutation that is computed on the fly, not stored.
#ifndef PACELINE_WORKER_DATA_PERMUTATION_H_
#define PACELINE_WORKER_DATA_PERMUTATION_H_

#include <cstdint>

namespace paceline {

// A bijection on 64-bit integers in which every input bit affects all output
// bits (the finalizer of SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
uint64_t MixBits(uint64_t value);

// A permutation of [0, size), selected by `key`.
//
// It encrypts an index with a Feistel network over the next even number of
// bits, and repeats that while the result is not below size. This "cycle
// walking" is a permutation of the smaller range (Black and Rogaway, "Ciphers
// with arbitrary finite domains", 2002). So any element takes constant time and
// memory, in any order, and every process with the same key gets the same
// permutation.
//
// Immutable; thread-safe.
class Permutation {
 public:
  // `size` must be at least 1.
  Permutation(int64_t size, uint64_t key);

  int64_t size() const { return size_; }

  // The image of `index` in [0, size).
  int64_t operator()(int64_t index) const;

 private:
  static constexpr int kRounds = 6;

  uint64_t Encipher(uint64_t value) const;

  int64_t size_;
  // Bits in one half of the Feistel network.
  int half_bits_;
  uint64_t round_keys_[kRounds];
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_PERMUTATION_H_
