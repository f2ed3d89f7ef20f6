// Variables that a replica holds itself, with the slots of their optimizer.
#ifndef PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_
#define PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/device.h"

namespace paceline {

// The variables are those in the host memory of a ModelState; the slots lie
// beside them, in the same buckets. Updates of different elements may run at
// once; an update runs beside nothing else.
//
// Where the device updates (ModelState::device_updates), they are copies, which
// Upload and Download move, and Apply is not called.
class LocalVariables {
 public:
  // The plan has one shard. All arguments outlive the object. Slots have their
  // initial values, the variables are left as they are.
  LocalVariables(const ShardPlan& plan, const Optimizer& optimizer,
                 ModelState& state);

  // Applies gradients to `count` elements of a bucket that is not frozen, from
  // `begin` on, as the update after iterations() updates. They lie in the host
  // memory of `gradients`, a state of the same plan and type. Where the
  // optimizer updates by variable, these are the parts that begin there.
  void Apply(int bucket, int64_t begin, int64_t count, ModelState& gradients);
  bool updates_by_variable() const { return optimizer_.updates_by_variable(); }
  // All elements have had their update.
  void EndUpdate();

  int64_t iterations() const;
  void set_iterations(int64_t iterations);

  // Brings the variables to the device, with their slots where that updates.
  absl::Status Upload(Stream& stream);
  // Brings both from where the device updates; nothing elsewhere. Waits.
  absl::Status Download(Stream& stream);

  // Calls `visit(part, slot, values)` for each variable (slot -1) and each slot
  // of it; `values` is a Span of float or double.
  template <typename Visit>
  void VisitTensors(Visit visit) {
    if (state_.type() == DataType::kFloat64) {
      VisitTyped<double>(visit);
    } else {
      VisitTyped<float>(visit);
    }
  }

  // The memory of a bucket's variables (slot -1) or of one of its slots; empty
  // for slots of variables that are not trained.
  absl::Span<std::byte> memory(int bucket, int slot);
  int slot_count() const { return static_cast<int>(slots_.size()); }

 private:
  template <typename T>
  absl::Span<T> Values(int bucket, int slot) {
    const absl::Span<std::byte> bytes = memory(bucket, slot);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // Calls `copy(bucket, slot, memory)` for each slot of each trained bucket,
  // until the first error.
  template <typename Copy>
  absl::Status ForEachSlot(Copy copy);
  template <typename T>
  void FillSlots();
  template <typename T>
  void ApplyTyped(int bucket, int64_t begin, int64_t count,
                  ModelState& gradients);
  // The same to these elements alone. `variable` is that of UpdateRange.
  template <typename T>
  void Update(int bucket, int64_t begin, int64_t count,
              const UpdatedVariable& variable, ModelState& gradients);
  template <typename T, typename Visit>
  void VisitTyped(Visit& visit) {
    MutexLock lock(mutex_);
    for (int slot = -1; slot < slot_count(); ++slot) {
      for (const Part& part : plan_.parts()) {
        if (slot >= 0 && !plan_.is_trained(part)) continue;
        visit(part, slot,
              Values<T>(part.bucket, slot)
                  .subspan(part.bucket_offset, part.count));
      }
    }
  }

  const ShardPlan& plan_;
  const Optimizer& optimizer_;
  ModelState& state_;

  mutable Mutex mutex_;
  int64_t iterations_ ABSL_GUARDED_BY(mutex_) = 0;
  // By slot and bucket; doubles, for their alignment.
  std::vector<std::vector<std::vector<double>>> slots_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_
