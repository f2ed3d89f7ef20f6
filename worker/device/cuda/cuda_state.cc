#include "worker/device/cuda/cuda_state.h"

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/gradient_memory.h"

namespace paceline {

using cuda::MemoryBlock;
using cuda::Queue;

absl::StatusOr<std::unique_ptr<CudaState>> CudaState::Create(
    cuda::Gpu& gpu, const ShardPlan& plan, size_t metric_count,
    absl::Span<std::byte> gradient_memory) {
  std::unique_ptr<CudaState> state(new CudaState(gpu, 1 + metric_count));
  RETURN_IF_ERROR(state->Allocate(plan, gradient_memory));
  return state;
}

absl::Status CudaState::Allocate(const ShardPlan& plan,
                                 absl::Span<std::byte> gradient_memory) {
  const size_t size = GradientBytes(plan, type());
  const auto size_bytes = static_cast<int64_t>(size);
  ASSIGN_OR_RETURN(device_variable_memory_,
                   gpu_.Allocate(size_bytes, "the variables"));
  ASSIGN_OR_RETURN(device_gradient_memory_,
                   gpu_.Allocate(size_bytes, "the gradients"));
  ASSIGN_OR_RETURN(host_variable_memory_,
                   gpu_.AllocatePinned(size_bytes, "the variables"));
  if (gradient_memory.empty()) {
    ASSIGN_OR_RETURN(host_gradient_memory_,
                     gpu_.AllocatePinned(size_bytes, "the gradients"));
    gradient_memory = {host_gradient_memory_.get(), size};
  } else {
    ASSIGN_OR_RETURN(host_gradient_memory_, gpu_.Pin(gradient_memory));
  }
  const auto lay_out = [&](const MemoryBlock& memory) {
    return LayOutGradients(plan, type(), {memory.get(), size});
  };
  device_variables_ = lay_out(device_variable_memory_);
  device_gradients_ = lay_out(device_gradient_memory_);
  host_variables_ = lay_out(host_variable_memory_);
  host_gradients_ = LayOutGradients(plan, type(), gradient_memory);
  ASSIGN_OR_RETURN(device_sums_, gpu_.Allocate(sums_bytes(), "the metrics"));
  ASSIGN_OR_RETURN(host_sums_,
                   gpu_.AllocatePinned(sums_bytes(), "the metrics"));
  constexpr int64_t kStepBytes = sizeof(cuda::StepValues);
  ASSIGN_OR_RETURN(device_step_, gpu_.Allocate(kStepBytes, "a step"));
  ASSIGN_OR_RETURN(host_step_, gpu_.AllocatePinned(kStepBytes, "a step"));
  ASSIGN_OR_RETURN(copies_, gpu_.CreateQueue());
  ASSIGN_OR_RETURN(computed_, gpu_.CreateEvent());
  return absl::OkStatus();
}

absl::Status CudaState::UploadVariables(int bucket, Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  const absl::Span<std::byte> from = host_variables_[bucket];
  queue.Copy(device_variables_[bucket].data(), from.data(),
             static_cast<int64_t>(from.size()));
  return queue.TakeError();
}

absl::Status CudaState::TakeMetrics(Stream& stream, MetricSums& sums) {
  CHECK_EQ(sums.totals.size(), metric_count_);
  CHECK_EQ(sums.counts.size(), metric_count_);
  auto& queue = static_cast<Queue&>(stream);
  queue.Copy(host_sums_.get(), device_sums_.get(), sums_bytes());
  queue.Zero(device_sums_.get(), sums_bytes());
  RETURN_IF_ERROR(queue.Synchronize());
  const auto* const values = reinterpret_cast<const double*>(host_sums_.get());
  for (size_t i = 0; i < metric_count_; ++i) {
    sums.totals[i] += values[i];
    sums.counts[i] += values[metric_count_ + i];
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
  arena_ = nullptr;
  arena_bytes_ = 0;
  ASSIGN_OR_RETURN(arena_,
                   gpu_.Allocate(size_bytes, "the tensors of a program"));
  arena_bytes_ = size_bytes;
  return absl::OkStatus();
}

}  // namespace paceline
