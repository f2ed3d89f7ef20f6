#include "worker/device/cuda/cuda_program.h"

#include <cstring>
#include <utility>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"

namespace paceline {

using cuda::Queue;

absl::StatusOr<std::unique_ptr<CudaProgram>> CudaProgram::Create(
    const ProgramSpec& spec, CudaState& state, cuda::ProgramParts parts) {
  RETURN_IF_ERROR(state.ReserveArena(parts.arena_size_bytes));
  std::unique_ptr<CudaProgram> program(
      new CudaProgram(spec, state, std::move(parts)));
  RETURN_IF_ERROR(program->Allocate());
  return program;
}

CudaProgram::CudaProgram(const ProgramSpec& spec, CudaState& state,
                         cuda::ProgramParts parts)
    : batch_size_(spec.batch_size),
      class_count_(SparseClassCount(spec)),
      state_(state),
      parts_(std::move(parts)),
      runs_(parts_.sections.size()) {
  for (const cuda::ProgramParts::SectionEnd& end : parts_.sections) {
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
                   gpu.AllocatePinned(parts_.output->count() *
                                          static_cast<int64_t>(sizeof(float)),
                                      "the output"));
  parts_.features->data = device_features_.get();
  parts_.labels->data = device_labels_.get();
  for (SectionRun& run : runs_) {
    ASSIGN_OR_RETURN(run.event, gpu.CreateEvent());
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::SetBatch(const Batch& batch, Stream& stream) {
  RETURN_IF_ERROR(
      CheckBatch(batch, batch_size_, DataType::kFloat32, class_count_));
  BindToArena();
  auto& queue = static_cast<Queue&>(stream);
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
  for (const auto& [memory, offset] : parts_.offsets) {
    memory->data = arena_ + offset;
  }
  for (SectionRun& run : runs_) run.graph = nullptr;
}

absl::Status CudaProgram::Enqueue(int section, Stream& stream) {
  CHECK_GE(section, 0);
  CHECK_LT(section, static_cast<int>(runs_.size()));
  auto& queue = static_cast<Queue&>(stream);
  SectionRun& run = runs_[section];
  if (!run.has_run) {
    EnqueueOperations(section, queue);
    run.has_run = true;
  } else {
    if (run.graph == nullptr) RETURN_IF_ERROR(Capture(section, queue));
    queue.Launch(*run.graph);
  }
  state_.DownloadGradients(sections_[section].final_buckets, queue, *run.event);
  // The stream ends with the step, its copies included.
  if (section + 1 == static_cast<int>(runs_.size())) queue.WaitFor(*run.event);
  RETURN_IF_ERROR(state_.TakeCopyError());
  return queue.TakeError();
}

void CudaProgram::EnqueueOperations(int section, Queue& queue) {
  const int begin = section == 0 ? 0 : parts_.sections[section - 1].end;
  for (int i = begin; i < parts_.sections[section].end; ++i) {
    parts_.operations[i](queue);
  }
}

absl::Status CudaProgram::Capture(int section, Queue& queue) {
  queue.BeginCapture();
  EnqueueOperations(section, queue);
  ASSIGN_OR_RETURN(runs_[section].graph, queue.EndCapture());
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> CudaProgram::Output(Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  queue.Copy(host_output_.get(), parts_.output->as<std::byte>(),
             parts_.output->count() * static_cast<int64_t>(sizeof(float)));
  RETURN_IF_ERROR(queue.Synchronize());
  return HostTensor{DataType::kFloat32, host_output_.get()};
}

}  // namespace paceline
