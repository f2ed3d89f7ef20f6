#include "worker/device/cuda/cuda_program.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"
#include "worker/device/cuda/device_update.h"

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
      is_evaluation_(spec.mode == Mode::kEvaluate),
      class_count_(SparseClassCount(spec)),
      optimizer_(spec.mode == Mode::kTrain ? spec.optimizer : nullptr),
      group_of_devices_(spec.group),
      group_size_(optimizer_ == nullptr ? 1 : spec.steps_per_execution),
      group_count_(optimizer_ == nullptr ? 1 : 2),
      state_(state),
      parts_(std::move(parts)),
      runs_(parts_.sections.size()) {
  for (const cuda::ProgramParts::SectionEnd& end : parts_.sections) {
    sections_.push_back(end.section);
  }
  CHECK(optimizer_ == nullptr || sections_.size() == 1);
  for (SectionRun& run : runs_) run.graphs.resize(group_count_);
}

CudaProgram::~CudaProgram() {
  if (kept_ > 0) state_.set_kept(nullptr);
}

absl::Status CudaProgram::Allocate() {
  cuda::Gpu& gpu = state_.gpu();
  ASSIGN_OR_RETURN(slots_,
                   cuda::BatchSlots::Create(gpu, group_size_ * group_count_,
                                            parts_.features_size_bytes,
                                            parts_.labels_size_bytes));
  if (is_evaluation_) {
    ASSIGN_OR_RETURN(host_output_,
                     gpu.AllocatePinned(OutputBytes(), "the output"));
  }
  for (SectionRun& run : runs_) {
    ASSIGN_OR_RETURN(run.event, gpu.CreateEvent());
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::SetBatch(const Batch& batch, Stream& stream) {
  RETURN_IF_ERROR(
      CheckBatch(batch, batch_size_, DataType::kFloat32, class_count_));
  // Those of another program.
  if (kept_ == 0) RETURN_IF_ERROR(state_.RunKept(static_cast<Queue&>(stream)));
  return slots_.Fill(first_slot() + kept_, batch, StepOf(batch),
                     state_.copies());
}

cuda::StepValues CudaProgram::StepOf(const Batch& batch) const {
  cuda::StepValues step = {.first_example = batch.first_example,
                           .epoch = batch.epoch,
                           .gradient_scale = 1 / batch.loss_divisor,
                           .regularization_scale = batch.regularization_scale};
  if (optimizer_ != nullptr) {
    step.step_size = cuda::StepSizeOf(*optimizer_, state_.iterations());
  }
  return step;
}

absl::Status CudaProgram::Enqueue(int section, Stream& stream) {
  CHECK_GE(section, 0);
  CHECK_LT(section, static_cast<int>(runs_.size()));
  auto& queue = static_cast<Queue&>(stream);
  if (optimizer_ != nullptr) {
    state_.set_iterations(state_.iterations() + 1);
    state_.set_kept(this);
    return ++kept_ < group_size_ ? absl::OkStatus() : RunKept(queue);
  }
  if (section == 0) slots_.BeginReading(first_slot(), queue);
  RETURN_IF_ERROR(Run(section, queue));
  SectionRun& run = runs_[section];
  state_.DownloadGradients(sections_[section].final_buckets, queue, *run.event);
  if (section + 1 == static_cast<int>(runs_.size())) {
    slots_.EndReading(first_slot(), queue);
    // The stream ends with the step, its copies included.
    queue.WaitFor(*run.event);
  }
  RETURN_IF_ERROR(state_.copies().TakeError());
  return queue.TakeError();
}

absl::Status CudaProgram::RunKept(Queue& queue) {
  state_.set_kept(nullptr);
  if (group_of_devices_ != nullptr) {
    RETURN_IF_ERROR(group_of_devices_->status());
  }
  const int begin = first_slot();
  const int end = begin + kept_;
  for (int slot = begin; slot < end; ++slot) slots_.BeginReading(slot, queue);
  if (kept_ == group_size_) {
    RETURN_IF_ERROR(Run(/*section=*/0, queue));
  } else {
    BindToArena();
    for (int slot = begin; slot < end; ++slot) {
      EnqueueOperations(/*section=*/0, slot, queue);
    }
  }
  for (int slot = begin; slot < end; ++slot) slots_.EndReading(slot, queue);
  queue.Record(*runs_.front().event);
  kept_ = 0;
  group_ = (group_ + 1) % group_count_;
  return queue.TakeError();
}

absl::Status CudaProgram::Run(int section, Queue& queue) {
  BindToArena();
  SectionRun& run = runs_[section];
  const auto enqueue = [&] {
    for (int i = 0; i < group_size_; ++i) {
      EnqueueOperations(section, first_slot() + i, queue);
    }
  };
  if (!run.has_run) {
    enqueue();
    run.has_run = true;
    return absl::OkStatus();
  }
  std::unique_ptr<cuda::CapturedGraph>& graph = run.graphs[group_];
  if (graph == nullptr) {
    queue.BeginCapture();
    enqueue();
    ASSIGN_OR_RETURN(graph, queue.EndCapture());
  }
  queue.Launch(*graph);
  return absl::OkStatus();
}

void CudaProgram::BindToArena() {
  if (arena_ == state_.arena()) return;
  arena_ = state_.arena();
  for (const auto& [memory, offset] : parts_.offsets) {
    memory->data = arena_ + offset;
  }
  for (SectionRun& run : runs_) {
    for (auto& graph : run.graphs) graph = nullptr;
  }
}

void CudaProgram::EnqueueOperations(int section, int slot, Queue& queue) {
  parts_.features->data = slots_.features(slot);
  parts_.labels->data = slots_.labels(slot);
  if (section == 0) {
    queue.Copy(state_.step(), slots_.step(slot), sizeof(cuda::StepValues));
  }
  const int begin = section == 0 ? 0 : parts_.sections[section - 1].end;
  for (int i = begin; i < parts_.sections[section].end; ++i) {
    parts_.operations[i](queue);
  }
}

absl::StatusOr<HostTensor> CudaProgram::Output(Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  queue.Copy(host_output_.get(), parts_.output->as<std::byte>(), OutputBytes());
  RETURN_IF_ERROR(queue.Synchronize());
  return HostTensor{DataType::kFloat32, host_output_.get()};
}

}  // namespace paceline
