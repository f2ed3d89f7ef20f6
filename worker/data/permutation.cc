#include "worker/data/permutation.h"

#include <algorithm>
#include <bit>

#include "glog/logging.h"

namespace paceline {

uint64_t MixBits(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Permutation::Permutation(int64_t size, uint64_t key) : size_(size) {
  CHECK_GE(size, 1);
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  half_bits_ = std::max(1, (bits + 1) / 2);
  for (uint64_t& round_key : round_keys_) {
    key = MixBits(key);
    round_key = key;
  }
}

int64_t Permutation::operator()(int64_t index) const {
  DCHECK(index >= 0 && index < size_);
  auto value = static_cast<uint64_t>(index);
  do {
    value = Encipher(value);
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

uint64_t Permutation::Encipher(uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_;
  uint64_t right = value & mask;
  for (const uint64_t round_key : round_keys_) {
    const uint64_t mixed = left ^ (MixBits(right ^ round_key) & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace paceline
