#include "worker/device/cpu/cpu_program.h"

#include <cstddef>
#include <utility>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"
#include "worker/device/cpu/parallel.h"

namespace paceline {
namespace {

// Points the memories to the batch's arrays. Operations only read them.
void Place(absl::Span<const HostTensor> batch,
           absl::Span<Memory* const> memories) {
  for (size_t i = 0; i < batch.size(); ++i) {
    memories[i]->data =
        static_cast<std::byte*>(const_cast<void*>(batch[i].data));
  }
}

}  // namespace

CpuProgram::CpuProgram(const ProgramSpec& spec, int thread_count,
                       CpuState& state, cpu::ProgramParts parts)
    : spec_(spec),
      thread_count_(thread_count),
      state_(state),
      parts_(std::move(parts)) {
  for (const ProgramLayout::SectionEnd& end : parts_.layout.sections) {
    sections_.push_back(end.section);
  }
  step_.metrics = &state.metrics();
  state.ReserveArena(parts_.layout.arena_size_bytes);
}

absl::Status CpuProgram::SetBatch(const Batch& batch, Stream& /*stream*/) {
  RETURN_IF_ERROR(CheckBatch(spec_, batch, DataType::kFloat32));
  step_.batch = batch;
  Place(batch.features, parts_.layout.features);
  Place(batch.labels, parts_.layout.labels);
  Place(batch.weights, parts_.layout.weights);
  if (arena_ != state_.arena()) {
    arena_ = state_.arena();
    parts_.layout.PlaceArena(arena_);
  }
  return absl::OkStatus();
}

absl::Status CpuProgram::Enqueue(int section, Stream& /*stream*/) {
  CHECK_GE(section, 0);
  CHECK_LT(section, static_cast<int>(sections_.size()));
  cpu::PrepareThread(thread_count_);
  const auto [begin, end] = parts_.layout.OperationsOf(section);
  for (int i = begin; i < end; ++i) parts_.operations[i](step_);
  if (spec_.mode == Mode::kTrain) state_.metrics().NoteLoss(step_.batch.step);
  return spec_.statistics_all_reduce == nullptr
             ? absl::OkStatus()
             : spec_.statistics_all_reduce->Take();
}

absl::StatusOr<std::vector<HostTensor>> CpuProgram::Outputs(
    Stream& /*stream*/) {
  std::vector<HostTensor> outputs;
  for (const Tensor* output : parts_.layout.outputs) {
    outputs.push_back({DataType::kFloat32, output->data()});
  }
  return outputs;
}

}  // namespace paceline
