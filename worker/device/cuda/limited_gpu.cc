#include "worker/device/cuda/limited_gpu.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/out_of_memory.h"

namespace paceline::cuda {
namespace {

class LimitedGpu final : public Gpu {
 public:
  LimitedGpu(std::unique_ptr<Gpu> gpu, int64_t limit_bytes)
      : gpu_(std::move(gpu)), limit_bytes_(limit_bytes) {}

  std::string name() const override { return gpu_->name(); }

  std::string gpu_uuid() const override { return gpu_->gpu_uuid(); }
  absl::StatusOr<std::string> NewNcclId() override { return gpu_->NewNcclId(); }
  absl::StatusOr<std::unique_ptr<Communicator>> JoinGroup(
      const DeviceGroupOptions& options) override {
    return gpu_->JoinGroup(options);
  }

  absl::StatusOr<GpuMemory> Memory() const override {
    ASSIGN_OR_RETURN(const GpuMemory memory, gpu_->Memory());
    return GpuMemory{std::min(memory.free_bytes, limit_bytes_ - used_bytes_),
                     std::min(memory.total_bytes, limit_bytes_)};
  }

  absl::StatusOr<MemoryBlock> Allocate(int64_t size_bytes,
                                       absl::string_view what) override {
    const int64_t used_before = used_bytes_.fetch_add(size_bytes);
    if (used_before + size_bytes > limit_bytes_) {
      used_bytes_ -= size_bytes;
      return absl::ResourceExhaustedError(
          absl::StrCat(OutOfMemory(name(), what, size_bytes,
                                   {limit_bytes_ - used_before, limit_bytes_})
                           .message(),
                       " of device_memory_limit"));
    }
    absl::StatusOr<MemoryBlock> block = gpu_->Allocate(size_bytes, what);
    if (!block.ok()) {
      used_bytes_ -= size_bytes;
      return block;
    }
    auto free = std::move(block->get_deleter());
    return MemoryBlock(block->release(),
                       [this, size_bytes, free](std::byte* data) {
                         free(data);
                         used_bytes_ -= size_bytes;
                       });
  }

  absl::StatusOr<MemoryBlock> AllocatePinned(int64_t size_bytes,
                                             absl::string_view what) override {
    return gpu_->AllocatePinned(size_bytes, what);
  }
  absl::StatusOr<MemoryBlock> Pin(absl::Span<std::byte> memory,
                                  absl::string_view what) override {
    return gpu_->Pin(memory, what);
  }
  absl::StatusOr<std::unique_ptr<ConvolutionPlan>> PlanConvolution(
      const ConvolutionShape& shape, Planning planning) override {
    return gpu_->PlanConvolution(shape, planning);
  }
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue(QueueKind kind) override {
    return gpu_->CreateQueue(kind);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return gpu_->CreateEvent();
  }

 private:
  const std::unique_ptr<Gpu> gpu_;
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Gpu> LimitMemory(std::unique_ptr<Gpu> gpu,
                                 int64_t limit_bytes) {
  return std::make_unique<LimitedGpu>(std::move(gpu), limit_bytes);
}

}  // namespace paceline::cuda
