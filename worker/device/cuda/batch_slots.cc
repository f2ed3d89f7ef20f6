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

BatchSlots::BatchSlots(const BatchSizes& sizes)
    : size_bytes_(static_cast<int64_t>(sizeof(StepValues))) {
  const auto place = [this](int64_t size_bytes) {
    const int64_t offset = Aligned(size_bytes_);
    size_bytes_ = offset + size_bytes;
    return Place{offset, size_bytes};
  };
  for (const int64_t size : sizes.labels) labels_.push_back(place(size));
  for (const int64_t size : sizes.features) features_.push_back(place(size));
}

int64_t BatchSlots::SizeBytes(const BatchSizes& sizes) {
  return BatchSlots(sizes).size_bytes_;
}

absl::StatusOr<BatchSlots> BatchSlots::Create(Gpu& gpu, int count,
                                              const BatchSizes& sizes) {
  BatchSlots slots(sizes);
  const int64_t size_bytes = slots.size_bytes_;
  for (int i = 0; i < count; ++i) {
    Slot& slot = slots.slots_.emplace_back();
    ASSIGN_OR_RETURN(slot.host, gpu.AllocatePinned(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(slot.device, gpu.Allocate(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(slot.copied, gpu.CreateEvent());
    ASSIGN_OR_RETURN(slot.read, gpu.CreateEvent());
  }
  return slots;
}

void BatchSlots::CopyTo(std::byte* slot, const std::vector<HostTensor>& arrays,
                        const std::vector<Place>& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    std::memcpy(slot + places[i].offset, arrays[i].data, places[i].size_bytes);
  }
}

absl::Status BatchSlots::Fill(int index, const Batch& batch,
                              const StepValues& step, Queue& copies) {
  Slot& slot = slots_[index];
  if (slot.was_filled) RETURN_IF_ERROR(slot.copied->Wait());
  std::byte* const to = slot.host.get();
  std::memcpy(to, &step, sizeof(step));
  // A batch without examples has no memory.
  if (batch.count > 0) {
    CopyTo(to, batch.labels, labels_);
    CopyTo(to, batch.features, features_);
  }
  if (slot.was_read) copies.WaitFor(*slot.read);
  copies.Copy(slot.device.get(), to, size_bytes_);
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
