// A model's variables, gradients and sums in a GPU's memory and, as far as
// others see them, in pinned memory of the host; and the arena in which its
// programs keep their tensors.
#ifndef PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_
#define PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/sharding/shard_plan.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/device.h"

namespace paceline {

class CudaState final : public ModelState {
 public:
  // `gradient_memory` as ProgramSpec has it; it is pinned here. `gpu` outlives
  // the state.
  static absl::StatusOr<std::unique_ptr<CudaState>> Create(
      cuda::Gpu& gpu, const ShardPlan& plan, size_t metric_count,
      absl::Span<std::byte> gradient_memory);

  DataType type() const override { return DataType::kFloat32; }
  absl::Span<std::byte> host_variables(int bucket) override {
    return host_variables_[bucket];
  }
  absl::Span<std::byte> host_gradients(int bucket) override {
    return host_gradients_[bucket];
  }
  absl::Status UploadVariables(int bucket, Stream& stream) override;
  absl::Status TakeMetrics(Stream& stream, MetricSums& sums) override;

  // In the GPU's memory.
  absl::Span<std::byte> device_variables(int bucket) const {
    return device_variables_[bucket];
  }
  absl::Span<std::byte> device_gradients(int bucket) const {
    return device_gradients_[bucket];
  }
  // Where programs add what they sum up: element 0 is the loss.
  double* total(size_t index) const {
    return reinterpret_cast<double*>(device_sums_.get()) + index;
  }
  double* count(size_t index) const { return total(index) + metric_count_; }
  // Of the step under way.
  cuda::StepValues* step() const {
    return reinterpret_cast<cuda::StepValues*>(device_step_.get());
  }
  cuda::StepValues* host_step() const {
    return reinterpret_cast<cuda::StepValues*>(host_step_.get());
  }

  // Enqueues the copy of a bucket's gradients to the host behind what `queue`
  // has so far, beside what follows; `done` passes when they are there.
  void DownloadGradients(absl::Span<const int> buckets, cuda::Queue& queue,
                         Event& done);
  // Errors of the copies so far.
  absl::Status TakeCopyError() { return copies_->TakeError(); }

  // Makes the arena at least this large. Its content may be lost.
  absl::Status ReserveArena(int64_t size_bytes);
  // Changes only when a larger arena is reserved.
  std::byte* arena() const { return arena_.get(); }
  int64_t arena_size_bytes() const { return arena_bytes_; }

  cuda::Gpu& gpu() const { return gpu_; }

 private:
  CudaState(cuda::Gpu& gpu, size_t metric_count)
      : gpu_(gpu), metric_count_(metric_count) {}
  absl::Status Allocate(const ShardPlan& plan,
                        absl::Span<std::byte> gradient_memory);
  int64_t sums_bytes() const {
    return static_cast<int64_t>(2 * metric_count_ * sizeof(double));
  }

  cuda::Gpu& gpu_;
  // With the loss.
  const size_t metric_count_;
  cuda::MemoryBlock device_variable_memory_;
  cuda::MemoryBlock device_gradient_memory_;
  cuda::MemoryBlock host_variable_memory_;
  cuda::MemoryBlock host_gradient_memory_;
  // By bucket, in these.
  std::vector<absl::Span<std::byte>> device_variables_;
  std::vector<absl::Span<std::byte>> device_gradients_;
  std::vector<absl::Span<std::byte>> host_variables_;
  std::vector<absl::Span<std::byte>> host_gradients_;
  // Totals, then counts.
  cuda::MemoryBlock device_sums_;
  cuda::MemoryBlock host_sums_;
  cuda::MemoryBlock device_step_;
  cuda::MemoryBlock host_step_;
  cuda::MemoryBlock arena_;
  int64_t arena_bytes_ = 0;
  std::unique_ptr<cuda::Queue> copies_;
  // Passes when the gradients that are to be copied are computed.
  std::unique_ptr<Event> computed_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_
