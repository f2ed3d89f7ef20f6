// One block of a shard: its variables' values, the optimizer's slots, and a
// version.
#ifndef PACELINE_PS_SERVER_BLOCK_STATE_H_
#define PACELINE_PS_SERVER_BLOCK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
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

  // Applies gradients, which passed Check, with this learning rate. All else of
  // the call is by the block's own count (its version), as calls may come in
  // another order than that of their numbers. The gradients of statistics are
  // weighted parts (moving_statistics.h).
  // Returns how many updates the block had since the version of the gradients.
  uint64_t Apply(double learning_rate, const DenseValues& gradients);

  // Whether gradients, which passed Check, cover the whole block.
  bool IsWhole(const DenseValues& gradients) const;

  // Adds gradients of the whole block to the sum that ApplySum applies. The
  // gradients of statistics are deltas.
  void Add(const DenseValues& gradients);
  // Adds Σ g² of what ApplySum clips to `squared_norms`, by variable: of the
  // summed gradients or, with accumulation, of their mean.
  void AddSquaredNorms(absl::Span<double> squared_norms) const;
  // Accumulates the sum, multiplies it by each variable's clipping factor,
  // applies it with this learning rate, and resets it.
  void ApplySum(double learning_rate, absl::Span<const double> factors);

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

  // The values and their averages change places. No effect before the first
  // update, which makes the averages, nor on what is not trained. The optimizer
  // must have averages.
  void SwapAverages();

 private:
  // Number of slots for whose spans an update needs no heap allocation.
  static constexpr size_t kUsualSlots = 4;

  static absl::Span<const T> ValuesOf(const DenseValues& gradients);
  bool is_trained() const {
    return plan_.update_of(block_) == VariableUpdate::kGradient;
  }
  absl::Span<T> Values(int64_t begin, size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return absl::MakeSpan(tensors_.front()).subspan(begin, count);
  }
  // Spans of the values of the same elements, and of each slot.
  using Spans = absl::InlinedVector<absl::Span<T>, kUsualSlots + 1>;
  Spans SpansOf(int64_t begin, size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Only with accumulation.
  const std::vector<T>& accumulators() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return tensors_[1 + optimizer_.AccumulatorSlotOf(tensors_.size() - 1)];
  }
  // The block's next call, with this learning rate.
  UpdateStep NextStep(double learning_rate) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Accumulates gradients of elements from `begin` on
  // (Optimizer::Accumulate).
  void Accumulate(const UpdateStep& step, int64_t begin,
                  absl::Span<T> gradients)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Updates elements [begin, begin + gradients.size()) of the block, which all
  // belong to `part`.
  void Update(const UpdateStep& step, const Part& part, int64_t begin,
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
  // Calls that the block had.
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  // The values, then each slot; each vector is as long as the block.
  std::vector<std::vector<T>> tensors_ ABSL_GUARDED_BY(mutex_);
  // The sum of gradients that ApplySum applies; all zeros between two sums.
  // Allocated on first use.
  std::vector<T> sum_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_BLOCK_STATE_H_
