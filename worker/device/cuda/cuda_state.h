// A model's variables, gradients and metric sums in GPU memory; pinned host
// memory for those that the host reads or writes; and the arena for the tensors
// of its programs.
#ifndef PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_
#define PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/metric_layout.h"
#include "common/sharding/bucket_layout.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/device.h"

namespace paceline {

// A program's steps that were passed to it, but are not enqueued yet.
class KeptSteps {
 public:
  virtual ~KeptSteps() = default;
  virtual absl::Status RunKept(cuda::Queue& queue) = 0;
};

class CudaState final : public ModelState, public DeviceUpdates {
 public:
  // Uses the plan, the metrics, the precision, the loss scaling, the optimizer
  // and the gradient memory of `spec`; pins the gradient memory. `gpu` and the
  // plan must outlive the state.
  static absl::StatusOr<std::unique_ptr<CudaState>> Create(
      cuda::Gpu& gpu, const ProgramSpec& spec);

  DataType type() const override { return DataType::kFloat32; }
  absl::Span<std::byte> host_variables(int bucket) override {
    return host_variables_[bucket];
  }
  absl::Span<std::byte> host_gradients(int bucket) override {
    return host_gradients_[bucket];
  }
  absl::Status UploadVariables(int bucket, Stream& stream) override;
  absl::Status TakeMetrics(Stream& stream, MetricSums& sums) override;
  DeviceUpdates* device_updates() override { return updates_ ? this : nullptr; }

  int64_t iterations() const override { return iterations_; }
  void set_iterations(int64_t iterations) override { iterations_ = iterations; }
  absl::Status UploadSlot(int bucket, int slot,
                          absl::Span<const std::byte> from,
                          Stream& stream) override;
  absl::Status DownloadSlot(int bucket, int slot, absl::Span<std::byte> to,
                            Stream& stream) override;
  absl::Status DownloadVariables(int bucket, Stream& stream) override;

  // GPU addresses.
  absl::Span<std::byte> device_variables(int bucket) const {
    return device_variables_[bucket];
  }
  absl::Span<std::byte> device_gradients(int bucket) const {
    return device_gradients_[bucket];
  }
  // All buckets with the gaps between them. All three have the same layout;
  // gradients and slots end where the frozen buckets begin.
  float* all_variables() const { return Floats(device_variable_memory_); }
  float* all_gradients() const { return Floats(device_gradient_memory_); }
  float* all_of_slot(int slot) const { return Floats(slot_memory_[slot]); }
  // Programs add the states of loss and metrics here.
  double* metric_state(size_t offset) const {
    return reinterpret_cast<double*>(device_sums_.get()) + offset;
  }
  // MetricSums::first_nonfinite_step.
  int64_t* first_nonfinite_step() const {
    return reinterpret_cast<int64_t*>(metric_state(metric_state_size_));
  }
  // The values of the current step.
  cuda::StepValues* step() const {
    return reinterpret_cast<cuda::StepValues*>(device_step_.get());
  }

  // Null if the loss is not scaled.
  cuda::LossScale* loss_scale() const {
    return reinterpret_cast<cuda::LossScale*>(device_loss_scale_.get());
  }

  // The queue for copies between host and GPU that run beside the steps.
  cuda::Queue& copies() { return *copies_; }

  // The steps that a program holds back; null: none. Call RunKept before
  // anything else reads or changes the state.
  void set_kept(KeptSteps* kept) { kept_ = kept; }
  absl::Status RunKept(cuda::Queue& queue) {
    return kept_ == nullptr ? absl::OkStatus() : kept_->RunKept(queue);
  }

  // Enqueues the copy of gradients to the host. It starts after the work in
  // `queue` so far, and runs beside later work. `done` passes when the
  // gradients are in host memory.
  void DownloadGradients(absl::Span<const int> buckets, cuda::Queue& queue,
                         Event& done);

  // Makes the arena at least this large. Its content may be lost. After an
  // error the arena has its old size; or there is none, if the memory was taken
  // in between.
  absl::Status ReserveArena(int64_t size_bytes);
  // Changes only when ReserveArena needs a larger arena. Null: there is none.
  std::byte* arena() const { return arena_.get(); }
  int64_t arena_size_bytes() const { return arena_bytes_; }

  cuda::Gpu& gpu() const { return gpu_; }

 private:
  CudaState(cuda::Gpu& gpu, const ProgramSpec& spec)
      : gpu_(gpu),
        layout_(*spec.bucket_layout),
        metric_state_size_(MetricLayout(spec.outputs).size()),
        updates_(spec.optimizer != nullptr) {}
  static float* Floats(const cuda::MemoryBlock& memory) {
    return reinterpret_cast<float*>(memory.get());
  }
  absl::Status AllocateVariables(const ProgramSpec& spec);
  absl::Status AllocateHostGradients(absl::Span<std::byte> gradient_memory);
  absl::Status AllocateSums();
  absl::Status AllocateStep(const ProgramSpec& spec);
  absl::Status SetLossScale(const LossScaling& scaling);
  absl::Status AllocateArena(int64_t size_bytes);
  absl::Span<std::byte> DeviceSlot(int bucket, int slot) const;
  // Copies after the steps enqueued so far, and blocks until it is done.
  absl::Status Transfer(void* to, const void* from, size_t size_bytes,
                        Stream& stream);
  int64_t sums_bytes() const {
    return static_cast<int64_t>(metric_state_size_ * sizeof(double) +
                                sizeof(int64_t));
  }

  cuda::Gpu& gpu_;
  const BucketLayout& layout_;
  // Includes the loss.
  const size_t metric_state_size_;
  const bool updates_;
  cuda::MemoryBlock device_variable_memory_;
  cuda::MemoryBlock device_gradient_memory_;
  std::vector<cuda::MemoryBlock> slot_memory_;
  cuda::MemoryBlock host_variable_memory_;
  cuda::MemoryBlock host_gradient_memory_;
  // By bucket: its part of the memory above.
  std::vector<absl::Span<std::byte>> device_variables_;
  std::vector<absl::Span<std::byte>> device_gradients_;
  std::vector<absl::Span<std::byte>> host_variables_;
  std::vector<absl::Span<std::byte>> host_gradients_;
  // The states, then the first step with a non-finite loss.
  cuda::MemoryBlock device_sums_;
  cuda::MemoryBlock host_sums_;
  cuda::MemoryBlock device_step_;
  cuda::MemoryBlock device_loss_scale_;
  cuda::MemoryBlock arena_;
  int64_t arena_bytes_ = 0;
  std::unique_ptr<cuda::Queue> copies_;
  // Passes when the gradients to be copied are computed.
  std::unique_ptr<Event> computed_;
  KeptSteps* kept_ = nullptr;
  int64_t iterations_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CUDA_CUDA_STATE_H_
