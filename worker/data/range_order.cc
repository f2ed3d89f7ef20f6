#include "worker/data/range_order.h"

#include <algorithm>

#include "glog/logging.h"

namespace paceline {

BufferOrder::BufferOrder(int64_t size, int64_t capacity)
    : size_(size), capacity_(std::min(size, capacity)) {
  CHECK_GE(capacity_, 1);
}

void BufferOrder::Begin(uint64_t key) {
  key_ = key;
  given_ = 0;
}

int64_t BufferOrder::At(int64_t index) {
  DCHECK(index >= 0 && index < size_);
  if (given_ == 0 || index < given_ - 1) Restart();
  while (given_ <= index) {
    const int64_t drawn = Draw(held_);
    last_ = buffer_[drawn];
    buffer_[drawn] = input_ < size_ ? input_++ : buffer_[--held_];
    ++given_;
  }
  return last_;
}

void BufferOrder::Restart() {
  buffer_.resize(capacity_);
  for (int64_t i = 0; i < capacity_; ++i) buffer_[i] = i;
  held_ = capacity_;
  input_ = capacity_;
  draws_ = 0;
  given_ = 0;
}

// Multiplication instead of a remainder (Lemire, 2019); the bias is below
// bound / 2^64.
int64_t BufferOrder::Draw(int64_t bound) {
  const uint64_t random = MixBits(key_ ^ MixBits(draws_++));
  return static_cast<int64_t>(
      (static_cast<unsigned __int128>(random) * static_cast<uint64_t>(bound)) >>
      64);
}

RangeOrder::RangeOrder(int64_t size, bool shuffle, int64_t buffer_size)
    : size_(size), shuffle_(shuffle) {
  if (shuffle && buffer_size > 0 && size > 0) {
    buffer_.emplace(size, buffer_size);
  }
}

void RangeOrder::Begin(uint64_t key) {
  if (!shuffle_ || size_ == 0) return;
  if (buffer_) {
    buffer_->Begin(key);
  } else {
    permutation_.emplace(size_, key);
  }
}

int64_t RangeOrder::At(int64_t index) {
  DCHECK(index >= 0 && index < size_);
  if (!shuffle_) return index;
  return buffer_ ? buffer_->At(index) : (*permutation_)(index);
}

}  // namespace paceline
