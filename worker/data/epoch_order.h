// The order of examples in each epoch.
//
// Leases are ranges of positions in an epoch's order, so every worker must
// derive the same order. It depends only on the options and the epoch.
//
// Passes over the examples follow each other without a gap:
//
//   absolute = epoch · epoch_examples + position
//   pass     = absolute / pass_examples
//   example  = first + order of that pass [absolute mod pass_examples]
//
// Without steps_per_epoch an epoch is one pass. With it, an epoch may end
// within a pass, and the next epoch continues there, as in Keras with repeated
// data.
#ifndef PACELINE_WORKER_DATA_EPOCH_ORDER_H_
#define PACELINE_WORKER_DATA_EPOCH_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/data/permutation.h"

namespace paceline {

struct OrderOptions {
  // The examples [first, first + count) of the source are used.
  int64_t first = 0;
  // Must be at least 1.
  int64_t count = 0;
  // Whether each pass has its own random order; otherwise that of the source.
  bool shuffle = false;
  // 0: a permutation of all examples. Otherwise the order given by a shuffle
  // buffer of this many examples (as in Keras and tf.data).
  int64_t shuffle_buffer_size = 0;
  uint64_t seed = 0;
  // Examples in a pass, the first of its order; 0: `count`.
  int64_t pass_examples = 0;
  // Examples in an epoch; 0: those of a pass.
  int64_t epoch_examples = 0;

  int64_t ExamplesInPass() const {
    return pass_examples == 0 ? count : pass_examples;
  }
  int64_t ExamplesInEpoch() const {
    return epoch_examples == 0 ? ExamplesInPass() : epoch_examples;
  }
};

// How many of `count` examples are for training, given a validation split of
// `share` in [0, 1). The others, at the end, are for validation. Keras'
// formula: ⌊n(1−s)⌋.
int64_t TrainingExamples(int64_t count, double share);

// Not thread-safe: it caches the order of one pass.
class EpochOrder {
 public:
  explicit EpochOrder(const OrderOptions& options);

  // Examples in an epoch.
  int64_t epoch_examples() const { return options_.epoch_examples; }

  // The index in the source of the example at `position` in [0, epoch_examples)
  // of `epoch`. Allocates only in the first call. With a shuffle buffer, the
  // first call for a pass takes O(count).
  int64_t ExampleAt(int64_t epoch, int64_t position);

  // The pass over the examples in which that is, from 0.
  int64_t PassAt(int64_t epoch, int64_t position) const;

 private:
  // Computes `permutation_` or `buffered_order_` for `pass`.
  void PreparePass(int64_t pass);
  void RunShuffleBuffer(uint64_t key);

  OrderOptions options_;
  int64_t pass_ = -1;
  // Set if there is no shuffle buffer.
  std::optional<Permutation> permutation_;
  // With a shuffle buffer: the order of the pass, and the buffer itself.
  std::vector<int64_t> buffered_order_;
  std::vector<int64_t> buffer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_EPOCH_ORDER_H_
