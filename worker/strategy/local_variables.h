// Variables that a replica holds itself, with the optimizer's slots.
#ifndef PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_
#define PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/device.h"

namespace paceline {

// The variables are in the host memory of a ModelState; the slots are stored
// here, in the same buckets. Updates of different elements may run in parallel.
// No other method may run during an update.
//
// If the device updates (ModelState::device_updates), host memory has copies:
// Upload and Download move them, and Apply must not be called.
class LocalVariables {
 public:
  // The plan must have one shard. All arguments must outlive the object. Slots
  // get their initial values; the variables are not changed.
  LocalVariables(const ShardPlan& plan, const Optimizer& optimizer,
                 ModelState& state);

  // Accumulates gradients (Optimizer::Accumulate) of these elements of a
  // bucket, before they are clipped and applied. No effect on frozen buckets
  // and on statistics.
  void Accumulate(int bucket, int64_t begin, int64_t count,
                  ModelState& gradients);
  // Applies gradients to `count` elements from `begin` on of a bucket that is
  // not frozen, as call number iterations() + 1, with the learning rate of
  // Optimizer::StepAfter. `gradients` is a state of the same plan and type,
  // whose host memory has them. If the optimizer updates whole variables, the
  // update covers the parts that begin in this range.
  void Apply(int bucket, int64_t begin, int64_t count,
             std::optional<double> learning_rate, ModelState& gradients);
  bool updates_by_variable() const { return optimizer_.updates_by_variable(); }
  // Call it when Apply had all elements; increments iterations().
  void EndUpdate();

  int64_t iterations() const;
  void set_iterations(int64_t iterations);

  // Copies the variables to the device, with their slots if the device updates.
  absl::Status Upload(Stream& stream);
  // Copies variables and slots from a device that updates them, and blocks
  // until they are there. No effect for other devices.
  absl::Status Download(Stream& stream);

  // The variables and their averages change places, on the device, too. No
  // effect before the first update, which makes the averages, nor on what is
  // not trained. The optimizer must have averages. Call it while no step is
  // under way. Blocks.
  absl::Status SwapAverages(Stream& stream);

  // Calls `visit(part, slot, values)` for each variable (slot -1) and each of
  // its slots; `values` is a Span of float or double.
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
  // Number of slots for whose spans an update needs no heap allocation.
  static constexpr size_t kUsualSlots = 4;

  // Spans of the same elements of a bucket in each slot.
  template <typename T>
  using Slots = absl::InlinedVector<absl::Span<T>, kUsualSlots>;
  template <typename T>
  Slots<T> SlotsOf(int bucket, int64_t begin, int64_t count) {
    Slots<T> slots;
    for (int slot = 0; slot < slot_count(); ++slot) {
      slots.push_back(Values<T>(bucket, slot).subspan(begin, count));
    }
    return slots;
  }
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
  void AccumulateTyped(int bucket, int64_t begin, int64_t count,
                       ModelState& gradients);
  template <typename T>
  void ApplyTyped(int bucket, int64_t begin, int64_t count,
                  const UpdateStep& step, ModelState& gradients);
  // The same for these elements only. `variable`: see UpdateRange.
  template <typename T>
  void Update(int bucket, int64_t begin, int64_t count, const UpdateStep& step,
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
  // By slot and bucket; stored as doubles for their alignment.
  std::vector<std::vector<std::vector<double>>> slots_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_LOCAL_VARIABLES_H_
