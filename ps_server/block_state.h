// One block of a shard: its variables' values, the optimizer's slots, and a
// version.
#ifndef PACELINE_PS_SERVER_BLOCK_STATE_H_
#define PACELINE_PS_SERVER_BLOCK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/optimizer/optimizer.h"
#include "common/rpc/dense_values.h"
#include "common/sharding/shard_plan.h"

namespace paceline {

// T is float or double. Thread-safe: a lock makes each call atomic.
template <typename T>
class BlockState {
 public:
  // Values are zero; slots have their initial values. `plan` and `optimizer`
  // must outlive the block.
  BlockState(const ShardPlan& plan, const Block& block,
             const Optimizer& optimizer);

  // InvalidArgument if the gradients do not fit into the block, if the block is
  // frozen, or if the optimizer updates whole variables and the gradients do
  // not cover the whole block.
  absl::Status Check(const DenseValues& gradients) const;

  // Applies gradients, which passed Check, as update number `iterations` + 1.
  // The gradients of statistics are weighted parts (moving_statistics.h).
  // Returns how many updates the block had since the version of the gradients.
  uint64_t Apply(int64_t iterations, const DenseValues& gradients);

  // Whether gradients, which passed Check, cover the whole block.
  bool IsWhole(const DenseValues& gradients) const;

  // Adds gradients of the whole block to the sum that ApplySum applies. The
  // gradients of statistics are deltas.
  void Add(const DenseValues& gradients);
  // Adds Σ g² of the summed gradients to `squared_norms`, by variable.
  void AddSquaredNorms(absl::Span<double> squared_norms) const;
  // Multiplies the sum by each variable's clipping factor, applies it as update
  // number `iterations` + 1, and resets the sum.
  void ApplySum(int64_t iterations, absl::Span<const double> factors);

  // Copies the whole block into `out`, which has its size.
  void Read(DenseBuffer& out) const;

  // Bytes of the values; bytes of values and slots.
  size_t values_size() const {
    return static_cast<size_t>(block_.count) * sizeof(T);
  }
  int64_t size_bytes() const;

  // With the lock held, calls `visit(part, slot, values)` for each part, with
  // the variable itself (slot -1) and each of its slots.
  template <typename Visit>
  void VisitTensors(Visit visit) {
    MutexLock lock(mutex_);
    for (size_t slot = 0; slot < tensors_.size(); ++slot) {
      for (const int p : block_.parts) {
        const Part& part = plan_.parts()[p];
        visit(part, static_cast<int>(slot) - 1,
              absl::MakeSpan(tensors_[slot].data() + OffsetOf(part),
                             static_cast<size_t>(part.count)));
      }
    }
  }

  void SetVersion(uint64_t version);

 private:
  static absl::Span<const T> ValuesOf(const DenseValues& gradients);
  bool is_trained() const {
    return plan_.update_of(block_) == VariableUpdate::kGradient;
  }
  absl::Span<T> Values(int64_t begin, size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return absl::MakeSpan(tensors_.front()).subspan(begin, count);
  }
  // Updates elements [begin, begin + gradients.size()) of the block, which all
  // belong to `part`.
  void Update(int64_t iterations, const Part& part, int64_t begin,
              absl::Span<const T> gradients)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The part's first element in the block.
  int64_t OffsetOf(const Part& part) const {
    return part.bucket_offset - block_.bucket_offset;
  }

  const ShardPlan& plan_;
  const Block& block_;
  const Optimizer& optimizer_;
  // Whether each update must cover the whole block.
  const bool needs_whole_;

  mutable Mutex mutex_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  // The values, then each slot; each vector is as long as the block.
  std::vector<std::vector<T>> tensors_ ABSL_GUARDED_BY(mutex_);
  // The sum of gradients that ApplySum applies; all zeros between two sums.
  // Allocated on first use.
  std::vector<T> sum_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_BLOCK_STATE_H_
