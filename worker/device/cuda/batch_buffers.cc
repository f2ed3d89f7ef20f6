#include "worker/device/cuda/batch_buffers.h"

#include <cstring>

#include "common/base/status_macros.h"

namespace paceline::cuda {
namespace {

// The alignment of CUDA's allocations; larger than any kernel needs.
constexpr int64_t kAlignment = 256;

int64_t Aligned(int64_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

BufferGroups BufferGroupsOf(const ProgramSpec& spec) {
  const bool updates = spec.mode == Mode::kTrain && spec.optimizer != nullptr;
  if (!updates) return {.size = 1, .count = 1};
  return {.size = spec.steps_per_execution, .count = 2};
}

BatchBuffers::BatchBuffers(const BatchSizes& sizes)
    : size_bytes_(static_cast<int64_t>(sizeof(StepValues))) {
  const auto add = [this](int64_t size_bytes) {
    const int64_t offset = Aligned(size_bytes_);
    size_bytes_ = offset + size_bytes;
    return Range{offset, size_bytes};
  };
  for (const int64_t size : sizes.labels) labels_.push_back(add(size));
  for (const int64_t size : sizes.weights) weights_.push_back(add(size));
  for (const int64_t size : sizes.features) features_.push_back(add(size));
}

int64_t BatchBuffers::SizeBytes(const BatchSizes& sizes) {
  return BatchBuffers(sizes).size_bytes_;
}

absl::StatusOr<BatchBuffers> BatchBuffers::Create(Gpu& gpu, int count,
                                                  const BatchSizes& sizes) {
  BatchBuffers buffers(sizes);
  const int64_t size_bytes = buffers.size_bytes_;
  for (int i = 0; i < count; ++i) {
    Buffer& buffer = buffers.buffers_.emplace_back();
    ASSIGN_OR_RETURN(buffer.host, gpu.AllocatePinned(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(buffer.device, gpu.Allocate(size_bytes, "a batch"));
    ASSIGN_OR_RETURN(buffer.copied, gpu.CreateEvent());
    ASSIGN_OR_RETURN(buffer.read, gpu.CreateEvent());
  }
  return buffers;
}

void BatchBuffers::CopyTo(std::byte* buffer,
                          const std::vector<HostTensor>& arrays,
                          const std::vector<Range>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    std::memcpy(buffer + ranges[i].offset, arrays[i].data,
                ranges[i].size_bytes);
  }
}

absl::Status BatchBuffers::Fill(int index, const Batch& batch,
                                const StepValues& step, Queue& copies) {
  Buffer& buffer = buffers_[index];
  if (buffer.was_filled) RETURN_IF_ERROR(buffer.copied->Wait());
  std::byte* const to = buffer.host.get();
  std::memcpy(to, &step, sizeof(step));
  // An empty batch has no memory.
  if (batch.count > 0) {
    CopyTo(to, batch.labels, labels_);
    CopyTo(to, batch.weights, weights_);
    CopyTo(to, batch.features, features_);
  }
  if (buffer.was_read) copies.WaitFor(*buffer.read);
  copies.Copy(buffer.device.get(), to, size_bytes_);
  copies.Record(*buffer.copied);
  buffer.was_filled = true;
  return copies.TakeError();
}

void BatchBuffers::BeginReading(int buffer, Queue& queue) {
  queue.WaitFor(*buffers_[buffer].copied);
}

void BatchBuffers::EndReading(int buffer, Queue& queue) {
  queue.Record(*buffers_[buffer].read);
  buffers_[buffer].was_read = true;
}

}  // namespace paceline::cuda
