// Batches on their way to the GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_BATCH_SLOTS_H_
#define PACELINE_WORKER_DEVICE_CUDA_BATCH_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/device.h"

namespace paceline::cuda {

// How the slots of a program take turns.
struct SlotGroups {
  // Steps of a group, which are executed at once.
  int size = 1;
  int count = 1;
  int slots() const { return size * count; }
};

// Where the device updates, one group is filled while the other is computed;
// else there is one slot.
SlotGroups SlotGroupsOf(const ProgramSpec& spec);

// Bytes of a batch, of each of its arrays.
struct BatchSizes {
  std::vector<int64_t> features;
  std::vector<int64_t> labels;
};

// Slots for batches of one size, each with pinned memory of the host and memory
// of the GPU: one is filled and copied, by a queue of its own, while steps read
// others. Not thread-safe.
class BatchSlots {
 public:
  // Without slots.
  BatchSlots() = default;
  // Bytes that one takes on the GPU.
  static int64_t SizeBytes(const BatchSizes& sizes);

  // `gpu` outlives the slots.
  static absl::StatusOr<BatchSlots> Create(Gpu& gpu, int count,
                                           const BatchSizes& sizes);

  // Puts a batch into a slot and enqueues its copy to the GPU, behind the steps
  // that read the slot. Waits until its last copy is done.
  absl::Status Fill(int slot, const Batch& batch, const StepValues& step,
                    Queue& copies);

  // Lets `queue` wait for the copy of a slot; and tells that what `queue` has
  // so far is all that reads it.
  void BeginReading(int slot, Queue& queue);
  void EndReading(int slot, Queue& queue);

  // In the GPU's memory. Of the step, and of what the batch has for an input or
  // an output of the model.
  std::byte* step(int slot) const { return slots_[slot].device.get(); }
  std::byte* features(int slot, size_t input) const {
    return step(slot) + features_[input].offset;
  }
  std::byte* labels(int slot, size_t output) const {
    return step(slot) + labels_[output].offset;
  }

 private:
  // Step values, labels and features lie together: one copy takes them all.
  struct Slot {
    MemoryBlock host;
    MemoryBlock device;
    std::unique_ptr<Event> copied;
    std::unique_ptr<Event> read;
    bool was_filled = false;
    bool was_read = false;
  };

  // Where an array lies in a slot.
  struct Place {
    int64_t offset = 0;
    int64_t size_bytes = 0;
  };

  explicit BatchSlots(const BatchSizes& sizes);
  static void CopyTo(std::byte* slot, const std::vector<HostTensor>& arrays,
                     const std::vector<Place>& places);

  std::vector<Place> labels_;
  std::vector<Place> features_;
  int64_t size_bytes_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_BATCH_SLOTS_H_
