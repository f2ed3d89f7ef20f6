#include "worker/device/cuda/cuda_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"

namespace paceline {

using cuda::Queue;

namespace {

// Bytes of a float32 tensor.
int64_t BytesOf(const Tensor& tensor) {
  return tensor.count() * static_cast<int64_t>(sizeof(float));
}

}  // namespace

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
    : spec_(spec),
      optimizer_(spec.mode == Mode::kTrain ? spec.optimizer : nullptr),
      group_of_devices_(optimizer_ == nullptr ? nullptr : spec.group),
      groups_(cuda::BufferGroupsOf(spec)),
      state_(state),
      parts_(std::move(parts)),
      runs_(parts_.layout.sections.size()) {
  for (const ProgramLayout::SectionEnd& end : parts_.layout.sections) {
    sections_.push_back(end.section);
  }
  CHECK(optimizer_ == nullptr || sections_.size() == 1);
  for (SectionRun& run : runs_) run.graphs.resize(groups_.count);
}

CudaProgram::~CudaProgram() {
  if (kept_ > 0) state_.set_kept(nullptr);
}

absl::Status CudaProgram::Allocate() {
  cuda::Gpu& gpu = state_.gpu();
  ASSIGN_OR_RETURN(buffers_, cuda::BatchBuffers::Create(gpu, groups_.buffers(),
                                                        parts_.batch_sizes));
  if (spec_.mode == Mode::kEvaluate) {
    ASSIGN_OR_RETURN(host_outputs_,
                     gpu.AllocatePinned(OutputBytes(), "the outputs"));
  }
  for (SectionRun& run : runs_) {
    ASSIGN_OR_RETURN(run.event, gpu.CreateEvent());
  }
  RETURN_IF_ERROR(AllocateConstants());
  return AllocateExchanges();
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

absl::Status CudaProgram::AllocateExchanges() {
  int64_t largest = 0;
  for (const cuda::ProgramParts::Exchange& exchange : parts_.exchanges) {
    runs_[exchange.section].exchange = &exchange;
    largest = std::max(largest, exchange.doubles->count());
  }
  if (largest == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(host_doubles_,
                   state_.gpu().AllocatePinned(
                       largest * static_cast<int64_t>(sizeof(double)),
                       "sums of the replicas"));
  ASSIGN_OR_RETURN(doubles_are_there_, state_.gpu().CreateEvent());
  return absl::OkStatus();
}

absl::Status CudaProgram::SetBatch(const Batch& batch, Stream& stream) {
  RETURN_IF_ERROR(CheckBatch(spec_, batch, DataType::kFloat32));
  auto& queue = static_cast<Queue&>(stream);
  if (constants_size_bytes_ > 0 && !std::exchange(has_constants_, true)) {
    queue.Copy(device_constants_.get(), host_constants_.get(),
               constants_size_bytes_);
  }
  // Launch the steps that another program holds back first, since steps must
  // run in order.
  if (kept_ == 0) RETURN_IF_ERROR(state_.RunKept(queue));
  return buffers_.Fill(first_buffer() + kept_, batch, StepOf(batch),
                       state_.copies());
}

cuda::StepValues CudaProgram::StepOf(const Batch& batch) const {
  cuda::StepValues step = {.first_example = batch.first_example,
                           .epoch = batch.epoch,
                           .gradient_scale = 1 / batch.loss_divisor,
                           .regularization_scale = batch.regularization_scale,
                           .number = batch.step};
  if (optimizer_ != nullptr) {
    const UpdateStep update =
        optimizer_->StepAfter(state_.iterations(), batch.learning_rate);
    step.learning_rate = update.learning_rate;
    step.accumulation = update.accumulation;
    step.optimizer = optimizer_->ScalarsOf(update);
    step.averaging = optimizer_->AveragingOf(update);
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
    return ++kept_ < groups_.size ? absl::OkStatus() : RunKept(queue);
  }
  SectionRun& run = runs_[section];
  if (section == 0) buffers_.BeginReading(first_buffer(), queue);
  if (run.exchange != nullptr) {
    RETURN_IF_ERROR(AllReduceStatistics(*run.exchange, queue));
  }
  RETURN_IF_ERROR(Run(section, queue));
  state_.DownloadGradients(sections_[section].ready_buckets, queue, *run.event);
  if (section + 1 == static_cast<int>(runs_.size())) {
    buffers_.EndReading(first_buffer(), queue);
    // The stream completes the step only when its copies are done.
    queue.WaitFor(*run.event);
  }
  RETURN_IF_ERROR(state_.copies().TakeError());
  RETURN_IF_ERROR(queue.TakeError());
  return spec_.statistics_all_reduce == nullptr
             ? absl::OkStatus()
             : spec_.statistics_all_reduce->Take();
}

absl::Status CudaProgram::RunKept(Queue& queue) {
  state_.set_kept(nullptr);
  const int kept = std::exchange(kept_, 0);
  const int begin = first_buffer();
  const int end = begin + kept;
  for (int buffer = begin; buffer < end; ++buffer)
    buffers_.BeginReading(buffer, queue);
  if (kept == groups_.size) {
    RETURN_IF_ERROR(Run(/*section=*/0, queue));
  } else {
    RETURN_IF_ERROR(BindToArena());
    for (int buffer = begin; buffer < end; ++buffer) {
      RETURN_IF_ERROR(
          EnqueueOperations(/*section=*/0, buffer, /*waits=*/false, queue));
    }
  }
  for (int buffer = begin; buffer < end; ++buffer)
    buffers_.EndReading(buffer, queue);
  queue.Record(*runs_.front().event);
  group_ = (group_ + 1) % groups_.count;
  return queue.TakeError();
}

absl::Status CudaProgram::Run(int section, Queue& queue) {
  RETURN_IF_ERROR(BindToArena());
  SectionRun& run = runs_[section];
  const bool is_first = !std::exchange(run.has_run, true);
  // An NCCL sum must be captured by all ranks or by none, so it is never
  // captured.
  if (is_first || group_of_devices_ != nullptr) {
    return EnqueueGroup(section, /*waits=*/is_first, queue);
  }
  std::unique_ptr<cuda::CapturedGraph>& graph = run.graphs[group_];
  if (graph == nullptr) {
    queue.BeginCapture();
    const absl::Status status = EnqueueGroup(section, /*waits=*/false, queue);
    // End the capture even after an error, so that the queue stays usable.
    absl::StatusOr<std::unique_ptr<cuda::CapturedGraph>> captured =
        queue.EndCapture();
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(captured.status());
    graph = *std::move(captured);
  }
  queue.Launch(*graph);
  return absl::OkStatus();
}

absl::Status CudaProgram::BindToArena() {
  if (state_.arena_size_bytes() < parts_.layout.arena_size_bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat(state_.gpu().name(),
                     ": the tensors have no memory: it was freed for a larger "
                     "program, whose allocation failed"));
  }
  if (arena_ == state_.arena()) return absl::OkStatus();
  arena_ = state_.arena();
  parts_.layout.PlaceArena(arena_);
  for (SectionRun& run : runs_) {
    for (auto& graph : run.graphs) graph = nullptr;
  }
  return absl::OkStatus();
}

absl::Status CudaProgram::AllReduceStatistics(
    const cuda::ProgramParts::Exchange& exchange, Queue& queue) {
  const int64_t count = exchange.doubles->count();
  const auto size_bytes = count * static_cast<int64_t>(sizeof(double));
  queue.Copy(host_doubles_.get(), exchange.doubles->data(), size_bytes);
  queue.Record(*doubles_are_there_);
  RETURN_IF_ERROR(queue.TakeError());
  RETURN_IF_ERROR(doubles_are_there_->Wait());
  (spec_.statistics_all_reduce->*exchange.reduction)(
      {reinterpret_cast<double*>(host_doubles_.get()),
       static_cast<size_t>(count)});
  queue.Copy(exchange.doubles->data(), host_doubles_.get(), size_bytes);
  return absl::OkStatus();
}

absl::Status CudaProgram::EnqueueGroup(int section, bool waits, Queue& queue) {
  for (int i = 0; i < groups_.size; ++i) {
    RETURN_IF_ERROR(
        EnqueueOperations(section, first_buffer() + i, waits, queue));
  }
  return absl::OkStatus();
}

void CudaProgram::PlaceBatch(int buffer) {
  const ProgramLayout& layout = parts_.layout;
  for (size_t i = 0; i < layout.features.size(); ++i) {
    layout.features[i]->data = buffers_.features(buffer, i);
  }
  for (size_t i = 0; i < layout.labels.size(); ++i) {
    layout.labels[i]->data = buffers_.labels(buffer, i);
  }
  for (size_t i = 0; i < layout.weights.size(); ++i) {
    layout.weights[i]->data = buffers_.weights(buffer, i);
  }
}

absl::Status CudaProgram::EnqueueOperations(int section, int buffer, bool waits,
                                            Queue& queue) {
  PlaceBatch(buffer);
  if (section == 0) {
    queue.Copy(state_.step(), buffers_.step(buffer), sizeof(cuda::StepValues));
  }
  const ProgramLayout& layout = parts_.layout;
  const auto [begin, end] = layout.OperationsOf(section);
  for (int i = begin; i < end; ++i) {
    // Do not update variables with sums that failed.
    if (group_of_devices_ != nullptr) {
      RETURN_IF_ERROR(group_of_devices_->status());
    }
    parts_.operations[i](queue);
    const absl::Status status = waits ? queue.Synchronize() : queue.TakeError();
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat(layout.owners[layout.operation_owners[i]],
                                     ": ", status.message()));
  }
  return absl::OkStatus();
}

int64_t CudaProgram::OutputBytes() const {
  int64_t size_bytes = 0;
  for (const Tensor* output : parts_.layout.outputs) {
    size_bytes += BytesOf(*output);
  }
  return size_bytes;
}

absl::StatusOr<std::vector<HostTensor>> CudaProgram::Outputs(Stream& stream) {
  auto& queue = static_cast<Queue&>(stream);
  std::vector<HostTensor> outputs;
  std::byte* next = host_outputs_.get();
  for (const Tensor* output : parts_.layout.outputs) {
    queue.Copy(next, output->data(), BytesOf(*output));
    outputs.push_back({DataType::kFloat32, next});
    next += BytesOf(*output);
  }
  RETURN_IF_ERROR(queue.Synchronize());
  return outputs;
}

}  // namespace paceline
