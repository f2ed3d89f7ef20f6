// A program of the CPU device: a list of operations that run on the calling
// thread.
#ifndef PACELINE_WORKER_DEVICE_CPU_CPU_PROGRAM_H_
#define PACELINE_WORKER_DEVICE_CPU_CPU_PROGRAM_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/cpu/cpu_state.h"
#include "worker/device/cpu/operation.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/device.h"

namespace paceline {

// Work runs when it is enqueued, so there is nothing to wait for.
class CpuStream final : public Stream {
 public:
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class CpuEvent final : public Event {
 public:
  bool HasPassed() const override { return true; }
  absl::Status Wait() override { return absl::OkStatus(); }
};

class CpuProgram final : public Program {
 public:
  // Runs `parts`, which were compiled for `spec` and `state`, on `thread_count`
  // threads. `state`, and the objects to which `spec` points, must outlive the
  // program.
  CpuProgram(const ProgramSpec& spec, int thread_count, CpuState& state,
             cpu::ProgramParts parts);

  int64_t batch_size() const override { return spec_.batch_size; }
  absl::Span<const Section> sections() const override { return sections_; }
  absl::Status SetBatch(const Batch& batch, Stream& stream) override;
  absl::Status Enqueue(int section, Stream& stream) override;
  Event& section_event(int /*section*/) override { return event_; }
  absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) override;

 private:
  const ProgramSpec spec_;
  const int thread_count_;
  CpuState& state_;
  cpu::ProgramParts parts_;
  std::vector<Section> sections_;
  CpuEvent event_;
  cpu::Step step_;
  // The arena when the tensors were placed.
  std::byte* arena_ = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CPU_CPU_PROGRAM_H_
