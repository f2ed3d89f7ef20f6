#include "worker/device/cuda/cuda_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"
#include "worker/device/feature_ids.h"

namespace paceline {

using cuda::Queue;

absl::StatusOr<std::unique_ptr<CudaProgram>> CudaProgram::Create(
    const ProgramSpec& spec, CudaState& state, cuda::ProgramParts parts) {
  RETURN_IF_ERROR(state.ReserveArena(parts.layout.arena_size_bytes));
  std::unique_ptr<CudaProgram> program(
      new CudaProgram(spec, state, std::move(parts)));
  RETURN_IF_ERROR(program->Allocate());
  return program;
}

CudaProgram::CudaProgram(const ProgramSpec& spec, CudaState& state,
                         cuda::ProgramParts parts)
    : graph_(*spec.graph),
      batch_size_(spec.batch_size),
      class_count_(SparseClassCount(spec)),
      replica_sum_(spec.replica_sum),
      state_(state),
      parts_(std::move(parts)),
      runs_(parts_.layout.sections.size()) {
  for (const ProgramLayout::SectionEnd& end : parts_.layout.sections) {
    sections_.push_back(end.section);
  }
}

absl::Status CudaProgram::Allocate() {
  cuda::Gpu& gpu = state_.gpu();
  const int64_t features = parts_.features_size_bytes;
  const int64_t labels = parts_.labels_size_bytes;
  ASSIGN_OR_RETURN(host_features_, gpu.AllocatePinned(features, "features"));
  ASSIGN_OR_RETURN(host_labels_, gpu.AllocatePinned(labels, "labels"));
  ASSIGN_OR_RETURN(device_features_, gpu.Allocate(features, "features"));
  ASSIGN_OR_RETURN(device_labels_, gpu.Allocate(labels, "labels"));
  ASSIGN_OR_RETURN(host_output_,
                   gpu.AllocatePinned(OutputBytes(), "the output"));
  parts_.layout.features->data = device_features_.get();
  parts_.layout.labels->data = device_labels_.get();
  for (SectionRun& run : runs_) {
    ASSIGN_OR_RETURN(run.event, gpu.CreateEvent());
  }
  RETURN_IF_ERROR(AllocateConstants());
  return AllocateSums();
}

absl::Status CudaProgram::AllocateConstants() {
  std::vector<int64_t> offsets;
  for (const cuda::ProgramParts::Constant& constant : parts_.constants) {
    offsets.push_back(constants_size_bytes_);
    constants_size_bytes_ +=
        AlignUp(static_cast<int64_t>(constant.bytes.size()));
  }
  if (constants_size_bytes_ == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(host_constants_, state_.gpu().AllocatePinned(
                                        constants_size_bytes_, "constants"));
  ASSIGN_OR_RETURN(device_constants_,
                   state_.gpu().Allocate(constants_size_bytes_, "constants"));
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto& [memory, bytes] = parts_.constants[i];
    std::memcpy(host_constants_.get() + offsets[i], bytes.data(), bytes.size());
    memory->data = device_constants_.get() + offsets[i];
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::AllocateSums() {
  int64_t largest = 0;
  for (const auto& [section, sums] : parts_.exchanges) {
    runs_[section].sums = sums;
    largest = std::max(largest, sums->count());
  }
  if (largest == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(host_sums_,
                   state_.gpu().AllocatePinned(
                       largest * static_cast<int64_t>(sizeof(double)),
                       "sums of the replicas"));
  ASSIGN_OR_RETURN(sums_are_there_, state_.gpu().CreateEvent());
  return absl::OkStatus();
}

absl::Status CudaProgram::SetBatch(const Batch& batch, Stream& stream) {
  RETURN_IF_ERROR(
      CheckBatch(batch, batch_size_, DataType::kFloat32, class_count_));
  RETURN_IF_ERROR(CheckFeatureIds<float>(graph_, batch));
  BindToArena();
  auto& queue = static_cast<Queue&>(stream);
  if (constants_size_bytes_ > 0 && !std::exchange(has_constants_, true)) {
    queue.Copy(device_constants_.get(), host_constants_.get(),
               constants_size_bytes_);
  }
  std::memcpy(host_features_.get(), batch.features.data,
              parts_.features_size_bytes);
  queue.Copy(device_features_.get(), host_features_.get(),
             parts_.features_size_bytes);
  std::memcpy(host_labels_.get(), batch.labels.data, parts_.labels_size_bytes);
  queue.Copy(device_labels_.get(), host_labels_.get(),
             parts_.labels_size_bytes);
  *state_.host_step() = {.first_example = batch.first_example,
                         .epoch = batch.epoch,
                         .gradient_scale = 1 / batch.loss_divisor,
                         .regularization_scale = batch.regularization_scale};
  queue.Copy(state_.step(), state_.host_step(), sizeof(cuda::StepValues));
  return queue.TakeError();
}

void CudaProgram::BindToArena() {
  if (arena_ == state_.arena()) return;
  arena_ = state_.arena();
  parts_.layout.PlaceArena(arena_);
  for (SectionRun& run : runs_) run.graph = nullptr;
}

absl::Status CudaProgram::Enqueue(int section, Stream& stream) {
  CHECK_GE(section, 0);
  CHECK_LT(section, static_cast<int>(runs_.size()));
  auto& queue = static_cast<Queue&>(stream);
  SectionRun& run = runs_[section];
  if (run.sums != nullptr) RETURN_IF_ERROR(AddUpReplicas(*run.sums, queue));
  if (!run.has_run) {
    RETURN_IF_ERROR(EnqueueOperations(section, /*waits=*/true, queue));
    run.has_run = true;
  } else {
    if (run.graph == nullptr) RETURN_IF_ERROR(Capture(section, queue));
    queue.Launch(*run.graph);
  }
  state_.DownloadGradients(sections_[section].final_buckets, queue, *run.event);
  // The stream ends with the step, its copies included.
  if (section + 1 == static_cast<int>(runs_.size())) queue.WaitFor(*run.event);
  RETURN_IF_ERROR(state_.TakeCopyError());
  RETURN_IF_ERROR(queue.TakeError());
  return replica_sum_ == nullptr ? absl::OkStatus() : replica_sum_->Take();
}

absl::Status CudaProgram::AddUpReplicas(const Tensor& sums, Queue& queue) {
  const int64_t count = sums.count();
  const auto size_bytes = count * static_cast<int64_t>(sizeof(double));
  queue.Copy(host_sums_.get(), sums.data(), size_bytes);
  queue.Record(*sums_are_there_);
  RETURN_IF_ERROR(queue.TakeError());
  RETURN_IF_ERROR(sums_are_there_->Wait());
  replica_sum_->AddUp({reinterpret_cast<double*>(host_sums_.get()),
                       static_cast<size_t>(count)});
  queue.Copy(sums.data(), host_sums_.get(), size_bytes);
  return absl::OkStatus();
}

absl::Status CudaProgram::EnqueueOperations(int section, bool waits,
                                            Queue& queue) {
  const ProgramLayout& layout = parts_.layout;
  const auto [begin, end] = layout.OperationsOf(section);
  for (int i = begin; i < end; ++i) {
    parts_.operations[i](queue);
    const absl::Status status = waits ? queue.Synchronize() : queue.TakeError();
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat(layout.owners[layout.operation_owners[i]],
                                     ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::Capture(int section, Queue& queue) {
  queue.BeginCapture();
  const absl::Status status =
      EnqueueOperations(section, /*waits=*/false, queue);
  // Also after an error: the queue is to be usable.
  absl::StatusOr<std::unique_ptr<cuda::CapturedGraph>> graph =
      queue.EndCapture();
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(graph.status());
  runs_[section].graph = *std::move(graph);
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> CudaProgram::Output(Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  queue.Copy(host_output_.get(), parts_.layout.output->data(), OutputBytes());
  RETURN_IF_ERROR(queue.Synchronize());
  return HostTensor{DataType::kFloat32, host_output_.get()};
}

}  // namespace paceline
