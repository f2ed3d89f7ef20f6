#include "worker/device/cuda/batch_slots.h"

#include <cstring>

#include "common/base/status_macros.h"

namespace paceline::cuda {
namespace {

// What CUDA aligns its blocks to, and more than any kernel asks for.
constexpr int64_t kAlignment = 256;

int64_t Aligned(int64_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SlotGroups SlotGroupsOf(const ProgramSpec& spec) {
  const bool updates = spec.mode == Mode::kTrain && spec.optimizer != nullptr;
  if (!updates) return {.size = 1, .count = 1};
  return {.size = spec.steps_per_execution, .count = 2};
}

int64_t BatchSlots::SizeBytes(int64_t features_size_bytes,
                              int64_t labels_size_bytes) {
  return Aligned(sizeof(StepValues)) + Aligned(labels_size_bytes) +
         features_size_bytes;
}

absl::StatusOr<BatchSlots> BatchSlots::Create(Gpu& gpu, int count,
                                              int64_t features_size_bytes,
                                              int64_t labels_size_bytes) {
  BatchSlots slots;
  slots.features_size_bytes_ = features_size_bytes;
  slots.labels_size_bytes_ = labels_size_bytes;
  slots.labels_offset_ = Aligned(sizeof(StepValues));
  slots.features_offset_ = slots.labels_offset_ + Aligned(labels_size_bytes);
  const int64_t size_bytes = SizeBytes(features_size_bytes, labels_size_bytes);
  for (int i = 0; i < count; ++i) {
    Slot& slot = slots.slots_.emplace_back();
    ASSIGN_OR_RETURN(slot.host, gpu.AllocatePinned(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(slot.device, gpu.Allocate(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(slot.copied, gpu.CreateEvent());
    ASSIGN_OR_RETURN(slot.read, gpu.CreateEvent());
  }
  return slots;
}

absl::Status BatchSlots::Fill(int index, const Batch& batch,
                              const StepValues& step, Queue& copies) {
  Slot& slot = slots_[index];
  if (slot.was_filled) RETURN_IF_ERROR(slot.copied->Wait());
  std::byte* const to = slot.host.get();
  std::memcpy(to, &step, sizeof(step));
  // A batch without examples has no memory.
  if (batch.count > 0) {
    std::memcpy(to + labels_offset_, batch.labels.data, labels_size_bytes_);
    std::memcpy(to + features_offset_, batch.features.data,
                features_size_bytes_);
  }
  if (slot.was_read) copies.WaitFor(*slot.read);
  copies.Copy(slot.device.get(), to, features_offset_ + features_size_bytes_);
  copies.Record(*slot.copied);
  slot.was_filled = true;
  return copies.TakeError();
}

void BatchSlots::BeginReading(int slot, Queue& queue) {
  queue.WaitFor(*slots_[slot].copied);
}

void BatchSlots::EndReading(int slot, Queue& queue) {
  queue.Record(*slots_[slot].read);
  slots_[slot].was_read = true;
}

}  // namespace paceline::cuda
