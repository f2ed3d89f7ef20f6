#include "worker/device/cuda/cuda_state.h"

#include <cstring>
#include <utility>

#include "common/base/status_macros.h"
#include "common/optimizer/optimizer.h"
#include "glog/logging.h"
#include "worker/device/bucket_memory.h"

namespace paceline {

using cuda::MemoryBlock;
using cuda::Queue;

absl::StatusOr<std::unique_ptr<CudaState>> CudaState::Create(
    cuda::Gpu& gpu, const ProgramSpec& spec) {
  std::unique_ptr<CudaState> state(new CudaState(gpu, spec));
  RETURN_IF_ERROR(state->AllocateVariables(spec));
  if (!state->updates_) {
    RETURN_IF_ERROR(state->AllocateHostGradients(spec.gradient_memory));
  }
  RETURN_IF_ERROR(state->AllocateSums());
  RETURN_IF_ERROR(state->AllocateStep(spec));
  ASSIGN_OR_RETURN(state->copies_, gpu.CreateQueue(cuda::QueueKind::kCopying));
  RETURN_IF_ERROR(state->SetLossScale(spec.loss_scaling));
  ASSIGN_OR_RETURN(state->computed_, gpu.CreateEvent());
  return state;
}

absl::Status CudaState::AllocateVariables(const ProgramSpec& spec) {
  const size_t variable_size = BucketsBytes(layout_.buckets(), type());
  const auto variable_bytes = static_cast<int64_t>(variable_size);
  const size_t gradient_size = GradientBytes(layout_, type());
  const auto gradient_bytes = static_cast<int64_t>(gradient_size);
  ASSIGN_OR_RETURN(device_variable_memory_,
                   gpu_.Allocate(variable_bytes, "the variables"));
  ASSIGN_OR_RETURN(device_gradient_memory_,
                   gpu_.Allocate(gradient_bytes, "the gradients"));
  ASSIGN_OR_RETURN(host_variable_memory_,
                   gpu_.AllocatePinned(variable_bytes, "the variables"));
  const size_t slots =
      updates_ ? spec.optimizer->slot_names().size() : size_t{0};
  for (size_t slot = 0; slot < slots; ++slot) {
    ASSIGN_OR_RETURN(slot_memory_.emplace_back(),
                     gpu_.Allocate(gradient_bytes, "the optimizer's slots"));
  }
  device_variables_ =
      LayOutBuckets(layout_.buckets(), type(),
                    {device_variable_memory_.get(), variable_size});
  device_gradients_ =
      LayOutBuckets(layout_.updated_buckets(), type(),
                    {device_gradient_memory_.get(), gradient_size});
  host_variables_ = LayOutBuckets(layout_.buckets(), type(),
                                  {host_variable_memory_.get(), variable_size});
  host_gradients_.resize(layout_.updated_buckets().size());
  return absl::OkStatus();
}

absl::Status CudaState::AllocateHostGradients(
    absl::Span<std::byte> gradient_memory) {
  if (gradient_memory.empty()) {
    const size_t size = GradientBytes(layout_, type());
    ASSIGN_OR_RETURN(
        host_gradient_memory_,
        gpu_.AllocatePinned(static_cast<int64_t>(size), "the gradients"));
    gradient_memory = {host_gradient_memory_.get(), size};
  } else {
    ASSIGN_OR_RETURN(host_gradient_memory_,
                     gpu_.Pin(gradient_memory, "the gradients"));
  }
  host_gradients_ =
      LayOutBuckets(layout_.updated_buckets(), type(), gradient_memory);
  return absl::OkStatus();
}

absl::Status CudaState::AllocateSums() {
  ASSIGN_OR_RETURN(device_sums_, gpu_.Allocate(sums_bytes(), "the metrics"));
  ASSIGN_OR_RETURN(host_sums_,
                   gpu_.AllocatePinned(sums_bytes(), "the metrics"));
  return absl::OkStatus();
}

absl::Status CudaState::AllocateStep(const ProgramSpec& spec) {
  ASSIGN_OR_RETURN(device_step_,
                   gpu_.Allocate(sizeof(cuda::StepValues), "a step"));
  if (spec.precision != Precision::kMixedFloat16) return absl::OkStatus();
  ASSIGN_OR_RETURN(device_loss_scale_,
                   gpu_.Allocate(sizeof(cuda::LossScale), "the loss scale"));
  return absl::OkStatus();
}

absl::Status CudaState::SetLossScale(const LossScaling& scaling) {
  if (loss_scale() == nullptr) return absl::OkStatus();
  const cuda::LossScale first = {
      .first_scale = static_cast<float>(scaling.first_scale()),
      .growth_steps = scaling.dynamic_growth_steps,
      .finite_steps = scaling.step_counter};
  copies_->Copy(loss_scale(), &first, sizeof(first));
  return copies_->Synchronize();
}

absl::Span<std::byte> CudaState::DeviceSlot(int bucket, int slot) const {
  const absl::Span<std::byte> variables = device_variables_[bucket];
  return {slot_memory_[slot].get() +
              (variables.data() - device_variable_memory_.get()),
          variables.size()};
}

absl::Status CudaState::Transfer(void* to, const void* from, size_t size_bytes,
                                 Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  RETURN_IF_ERROR(RunKept(queue));
  queue.Copy(to, from, static_cast<int64_t>(size_bytes));
  return queue.Synchronize();
}

absl::Status CudaState::UploadSlot(int bucket, int slot,
                                   absl::Span<const std::byte> from,
                                   Stream& stream) {
  const absl::Span<std::byte> to = DeviceSlot(bucket, slot);
  CHECK_EQ(from.size(), to.size());
  return Transfer(to.data(), from.data(), to.size(), stream);
}

absl::Status CudaState::DownloadSlot(int bucket, int slot,
                                     absl::Span<std::byte> to, Stream& stream) {
  const absl::Span<std::byte> from = DeviceSlot(bucket, slot);
  CHECK_EQ(to.size(), from.size());
  return Transfer(to.data(), from.data(), from.size(), stream);
}

absl::Status CudaState::DownloadVariables(int bucket, Stream& stream) {
  const absl::Span<std::byte> to = host_variables_[bucket];
  return Transfer(to.data(), device_variables_[bucket].data(), to.size(),
                  stream);
}

absl::Status CudaState::UploadVariables(int bucket, Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  RETURN_IF_ERROR(RunKept(queue));
  const absl::Span<std::byte> from = host_variables_[bucket];
  queue.Copy(device_variables_[bucket].data(), from.data(),
             static_cast<int64_t>(from.size()));
  return queue.TakeError();
}

absl::Status CudaState::TakeMetrics(Stream& stream, MetricSums& sums) {
  CHECK_EQ(sums.states.size(), metric_state_size_);
  auto& queue = static_cast<Queue&>(stream);
  RETURN_IF_ERROR(RunKept(queue));
  queue.Copy(host_sums_.get(), device_sums_.get(), sums_bytes());
  queue.Zero(device_sums_.get(), sums_bytes());
  RETURN_IF_ERROR(queue.Synchronize());
  const auto* const values = reinterpret_cast<const double*>(host_sums_.get());
  for (size_t i = 0; i < metric_state_size_; ++i) sums.states[i] += values[i];
  if (sums.first_nonfinite_step == 0) {
    std::memcpy(&sums.first_nonfinite_step, values + metric_state_size_,
                sizeof(int64_t));
  }
  return absl::OkStatus();
}

void CudaState::DownloadGradients(absl::Span<const int> buckets, Queue& queue,
                                  Event& done) {
  queue.Record(*computed_);
  copies_->WaitFor(*computed_);
  for (const int bucket : buckets) {
    copies_->Copy(host_gradients_[bucket].data(),
                  device_gradients_[bucket].data(),
                  static_cast<int64_t>(host_gradients_[bucket].size()));
  }
  copies_->Record(done);
}

absl::Status CudaState::ReserveArena(int64_t size_bytes) {
  if (size_bytes <= arena_bytes_) return absl::OkStatus();
  // Free the old arena first, since there may not be room for both.
  arena_ = nullptr;
  const int64_t bytes_before = std::exchange(arena_bytes_, 0);
  const absl::Status status = AllocateArena(size_bytes);
  if (!status.ok() && bytes_before > 0) {
    AllocateArena(bytes_before).IgnoreError();
  }
  return status;
}

absl::Status CudaState::AllocateArena(int64_t size_bytes) {
  ASSIGN_OR_RETURN(arena_,
                   gpu_.Allocate(size_bytes, "the tensors of a program"));
  arena_bytes_ = size_bytes;
  return absl::OkStatus();
}

}  // namespace paceline
