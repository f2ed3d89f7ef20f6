// Which example stands where in an epoch.
//
// Leases name positions in an epoch's order, so every worker must derive the
// same order: it follows from the options and the epoch alone.
//
// Passes over the examples follow each other without a gap:
//
//   absolute = epoch · epoch_examples + position
//   pass     = absolute / count
//   example  = first + order of that pass [absolute mod count]
//
// Without steps_per_epoch an epoch is one pass. With it, an epoch may end
// within a pass, and the next goes on from there, as Keras does with repeated
// data.
#ifndef PACELINE_WORKER_DATA_EPOCH_ORDER_H_
#define PACELINE_WORKER_DATA_EPOCH_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/data/permutation.h"

namespace paceline {

struct OrderOptions {
  // The examples that take part: [first, first + count) of the source.
  int64_t first = 0;
  // At least 1.
  int64_t count = 0;
  // Whether each pass has an order of its own, else that of the source.
  bool shuffle = false;
  // 0: a permutation of all examples. Else the order that a buffer of so many
  // examples gives (Keras' and tf.data's shuffle).
  int64_t shuffle_buffer_size = 0;
  uint64_t seed = 0;
  // Examples in an epoch; 0: `count`.
  int64_t epoch_examples = 0;
};

// How many of `count` examples train under a validation split of `share` in
// [0, 1); the others, at the end, validate (Keras: ⌊n(1−s)⌋).
int64_t TrainingExamples(int64_t count, double share);

// Not thread-safe: the order of one pass is kept.
class EpochOrder {
 public:
  explicit EpochOrder(const OrderOptions& options);

  // Examples in an epoch.
  int64_t epoch_examples() const { return options_.epoch_examples; }

  // The index, in the source, of the example at `position` in
  // [0, epoch_examples) of `epoch`. Allocates at the first call only. In a
  // shuffle with a buffer the first call of a pass takes O(count).
  int64_t ExampleAt(int64_t epoch, int64_t position);

 private:
  // Makes `pass` the one that `permutation_` or `buffered_order_` holds.
  void PreparePass(int64_t pass);
  void RunShuffleBuffer(uint64_t key);

  OrderOptions options_;
  int64_t pass_ = -1;
  // Without a buffer.
  std::optional<Permutation> permutation_;
  // With a buffer: the order of the pass, and the buffer it was made in.
  std::vector<int64_t> buffered_order_;
  std::vector<int64_t> buffer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_EPOCH_ORDER_H_
