// The order of examples in each epoch.
//
// Leases are ranges of positions in an epoch's order, so every worker must
// derive the same order. It depends only on the options and the epoch.
//
// Rounds follow each other without a gap:
//
//   absolute = epoch · epoch_examples + position
//   round    = absolute / round_examples
//   example  = order of that round [absolute mod round_examples]
//
// A round is a pass over the examples; under Sharding::kOwnPasses it is a pass
// of each replica, at the same time. Without steps_per_epoch an epoch is one
// round (or several passes, see epoch_passes). With it, an epoch may end within
// a round, and the next epoch continues there, as in Keras with repeated data.
#ifndef PACELINE_WORKER_DATA_EPOCH_ORDER_H_
#define PACELINE_WORKER_DATA_EPOCH_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "common/data_source/file_layout.h"
#include "worker/data/file_order.h"
#include "worker/data/file_shards.h"
#include "worker/data/range_order.h"
#include "worker/data/replica_turns.h"

namespace paceline {

// How replicas divide the examples among them.
enum class Sharding {
  // They take different positions of one order.
  kExamples,
  // The same; with `shuffle: true` it is an order of files (file_order.h).
  kFileAfterFile,
  // Each takes those of its files (file_shards.h), and when they are used up,
  // what others have left (replica_turns.h). Each example comes once.
  kOwnFiles,
  // Each takes all, in an order of its own: each example comes as often as
  // there are replicas.
  kOwnPasses
};

struct OrderOptions {
  // The examples [first, first + count) of the source are used.
  int64_t first = 0;
  // Must be at least 1.
  int64_t count = 0;
  // Whether each pass has its own random order; otherwise that of the source.
  bool shuffle = false;
  // 0: a permutation of all examples. Otherwise the order given by a shuffle
  // buffer of this many examples (as in Keras and tf.data). Each replica with
  // files or passes of its own has its own buffer.
  int64_t shuffle_buffer_size = 0;
  uint64_t seed = 0;
  // Examples in a pass, the first of its order; 0: `count`.
  int64_t pass_examples = 0;
  // Examples in an epoch; 0: those of `epoch_passes` passes.
  int64_t epoch_examples = 0;
  int64_t epoch_passes = 1;

  Sharding sharding = Sharding::kExamples;
  // Under kFileAfterFile and kOwnFiles, where `first` must be 0.
  FileLayout files = {};
  // Under kOwnFiles and kOwnPasses: the replicas, and the examples in a step,
  // of which each takes its slice (step_slices.h). An epoch must be one round
  // or full steps.
  int replicas = 1;
  int64_t step_size = 1;

  int64_t ExamplesInPass() const {
    return pass_examples == 0 ? count : pass_examples;
  }
  int64_t ExamplesInEpoch() const {
    return epoch_examples == 0 ? epoch_passes * ExamplesInPass()
                               : epoch_examples;
  }
  int64_t ExamplesInRound() const {
    const bool is_of_all = sharding == Sharding::kOwnPasses;
    return (is_of_all ? replicas : 1) * ExamplesInPass();
  }
};

// How many of `count` examples are for training, given a validation split of
// `share` in [0, 1). The others, at the end, are for validation. Keras'
// formula: ⌊n(1−s)⌋.
int64_t TrainingExamples(int64_t count, double share);

// Takes memory for the files and the replicas, and the numbers in shuffle
// buffers, but none for each example. Not thread-safe: it caches the order of
// one round.
class EpochOrder {
 public:
  explicit EpochOrder(const OrderOptions& options);

  // Examples in an epoch.
  int64_t epoch_examples() const { return epoch_examples_; }

  struct Place {
    // The index in the source.
    int64_t example = 0;
    // The pass over the examples, from 0 on. Passes of one number of replicas
    // all have different numbers; those of another number of replicas may have
    // the same.
    int64_t pass = 0;
  };
  // What comes at `position` in [0, epoch_examples) of `epoch`. Allocates only
  // in the first call, and in the first for a shuffle buffer. With a shuffle
  // buffer, the time of BufferOrder::At, which is short for ascending
  // positions.
  Place At(int64_t epoch, int64_t position);

  int64_t ExampleAt(int64_t epoch, int64_t position) {
    return At(epoch, position).example;
  }

 private:
  void MakeStreams();
  void BeginRound(int64_t round);
  // The key of a pass, or of replica `stream`'s part of it.
  uint64_t KeyOf(int64_t pass, int stream) const;

  const OrderOptions options_;
  const int64_t epoch_examples_;
  const int64_t round_examples_;
  int64_t round_ = -1;
  // One for each replica with files or passes of its own; otherwise one in all,
  // or none if there is a `file_order_`.
  std::vector<RangeOrder> streams_;
  // If there are `turns_`: the same orders, for what other replicas take of a
  // stream, which is farther on in it. So each of them is run forward alone.
  std::vector<RangeOrder> spares_;
  std::optional<ReplicaTurns> turns_;
  std::optional<FileShards> shards_;
  std::optional<FileOrder> file_order_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_EPOCH_ORDER_H_
