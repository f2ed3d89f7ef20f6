// An order of the numbers from 0 on, by a key.
#ifndef PACELINE_WORKER_DATA_RANGE_ORDER_H_
#define PACELINE_WORKER_DATA_RANGE_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/data/permutation.h"

namespace paceline {

// The order in which a shuffle buffer, as Keras and tf.data have it, gives the
// numbers [0, size): while there is input, a random number leaves the full
// buffer and the next input takes its place; at the end of the input, the rest
// of the buffer is shuffled. It is run as far as numbers are asked for, so it
// takes 8 bytes for each number in the buffer. Not thread-safe.
class BufferOrder {
 public:
  // `capacity`: at least 1.
  BufferOrder(int64_t size, int64_t capacity);

  // The order of `key` follows.
  void Begin(uint64_t key);

  // Number `index` of the order. Takes time in proportion to how far it is
  // behind the last one; if it is before that, to `index`.
  int64_t At(int64_t index);

 private:
  void Restart();
  // A random number below `bound`.
  int64_t Draw(int64_t bound);

  const int64_t size_;
  const int64_t capacity_;
  uint64_t key_ = 0;
  uint64_t draws_ = 0;
  // Empty until the first number is asked for. The first `held_` are in use.
  std::vector<int64_t> buffer_;
  int64_t held_ = 0;
  // The next input; how many numbers have left the buffer; the last of them.
  int64_t input_ = 0;
  int64_t given_ = 0;
  int64_t last_ = 0;
};

// Not thread-safe.
class RangeOrder {
 public:
  // Of [0, size). Unless `shuffle`, each is at its own place. `buffer_size`: of
  // a shuffle buffer; 0: a permutation of all.
  RangeOrder(int64_t size, bool shuffle, int64_t buffer_size);

  int64_t size() const { return size_; }

  // The order of `key` follows.
  void Begin(uint64_t key);

  // Number `index` in [0, size) of the order. See BufferOrder::At; otherwise it
  // takes constant time.
  int64_t At(int64_t index);

 private:
  int64_t size_;
  bool shuffle_;
  std::optional<BufferOrder> buffer_;
  std::optional<Permutation> permutation_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_RANGE_ORDER_H_
