#include "worker/device/cpu/cpu_program.h"

#include <utility>

#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/check_batch.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/feature_ids.h"

namespace paceline {
namespace {

// Operations only read the batch.
std::byte* Writable(const void* data) {
  return static_cast<std::byte*>(const_cast<void*>(data));
}

}  // namespace

CpuProgram::CpuProgram(const ProgramSpec& spec, int thread_count,
                       CpuState& state, cpu::ProgramParts parts)
    : graph_(*spec.graph),
      batch_size_(spec.batch_size),
      is_training_(spec.mode == Mode::kTrain),
      thread_count_(thread_count),
      class_count_(SparseClassCount(spec)),
      replica_sum_(spec.replica_sum),
      state_(state),
      parts_(std::move(parts)) {
  for (const ProgramLayout::SectionEnd& end : parts_.layout.sections) {
    sections_.push_back(end.section);
  }
  step_.metrics = &state.metrics();
  state.ReserveArena(parts_.layout.arena_size_bytes);
}

absl::Status CpuProgram::SetBatch(const Batch& batch, Stream& /*stream*/) {
  RETURN_IF_ERROR(
      CheckBatch(batch, batch_size_, DataType::kFloat32, class_count_));
  RETURN_IF_ERROR(CheckFeatureIds<float>(graph_, batch));
  step_.batch = batch;
  parts_.layout.features->data = Writable(batch.features.data);
  parts_.layout.labels->data = Writable(batch.labels.data);
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
  if (is_training_) state_.metrics().NoteLoss(step_.batch.step);
  return replica_sum_ == nullptr ? absl::OkStatus() : replica_sum_->Take();
}

absl::StatusOr<HostTensor> CpuProgram::Output(Stream& /*stream*/) {
  return HostTensor{DataType::kFloat32, parts_.layout.output->data()};
}

}  // namespace paceline
