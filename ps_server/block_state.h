// One block of a shard: values, slots, version.
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

// T is float or double. Thread-safe: the block's lock makes each call atomic.
template <typename T>
class BlockState {
 public:
  // Zeroed, but for slots that start with another value. `plan` and `optimizer`
  // outlive the block.
  BlockState(const ShardPlan& plan, const Block& block,
             const Optimizer& optimizer);

  // InvalidArgument if gradients do not fit the block, if it is frozen, or if
  // the optimizer updates whole variables and the gradients do not cover all
  // of the block.
  absl::Status Check(const DenseValues& gradients) const;

  // Applies gradients that fit, as the update after `iterations` updates; of
  // statistics they are parts (moving_statistics.h). Returns the updates the
  // block had since the gradients' version.
  uint64_t Apply(int64_t iterations, const DenseValues& gradients);

  // Whether gradients that fit are of the whole block.
  bool IsWhole(const DenseValues& gradients) const;

  // Adds gradients of the whole block to those that ApplySum will apply; of
  // statistics they are deltas.
  void Add(const DenseValues& gradients);
  // Adds Σ g² of the sum's gradients to `squared_norms`, by variable.
  void AddSquaredNorms(absl::Span<double> squared_norms) const;
  // Clips the sum by the factors of each variable, applies it as the update
  // after `iterations` updates, and begins a new one.
  void ApplySum(int64_t iterations, absl::Span<const double> factors);

  // Writes the whole block into a buffer of its size.
  void Read(DenseBuffer& out) const;

  // Of the values, and of values and slots.
  size_t values_size() const {
    return static_cast<size_t>(block_.count) * sizeof(T);
  }
  int64_t size_bytes() const;

  // Calls `visit(part, slot, values)` for each part and the variable itself
  // (slot -1) or one of its slots, under the lock.
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
  // Updates elements [begin, begin + gradients.size()) of the block, which are
  // of a part.
  void Update(int64_t iterations, const Part& part, int64_t begin,
              absl::Span<const T> gradients)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Where a part starts in the block.
  int64_t OffsetOf(const Part& part) const {
    return part.bucket_offset - block_.bucket_offset;
  }

  const ShardPlan& plan_;
  const Block& block_;
  const Optimizer& optimizer_;
  // Whether an update takes all elements at once.
  const bool needs_whole_;

  mutable Mutex mutex_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  // The values, then the slots; each as long as the block.
  std::vector<std::vector<T>> tensors_ ABSL_GUARDED_BY(mutex_);
  // Gradients that wait for those of other workers; allocated when first
  // needed. Only zeros while there are none.
  std::vector<T> sum_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_BLOCK_STATE_H_
