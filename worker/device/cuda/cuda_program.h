// A program of the CUDA device: a list of operations, captured as one graph a
// section.
//
// Where the device updates the variables, a step is one section, and one graph
// has as many steps as are executed at once, a group. Nobody waits for them:
// batches are copied into the buffers of one group while the other is computed.
//
//   buffers   | 0 1 2 | 3 4 5 |          three steps a group
//   copies    | ===== | ===== | =====
//   stream            | graph 0 | graph 1 |
#ifndef PACELINE_WORKER_DEVICE_CUDA_CUDA_PROGRAM_H_
#define PACELINE_WORKER_DEVICE_CUDA_CUDA_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/cuda/batch_buffers.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/device.h"

namespace paceline {

class CudaProgram final : public Program, private KeptSteps {
 public:
  // Runs `parts`, compiled for `spec` over `state`, which outlives the program.
  static absl::StatusOr<std::unique_ptr<CudaProgram>> Create(
      const ProgramSpec& spec, CudaState& state, cuda::ProgramParts parts);
  // Steps that are kept back are lost.
  ~CudaProgram() override;

  int64_t batch_size() const override { return spec_.batch_size; }
  absl::Span<const Section> sections() const override { return sections_; }
  absl::Status SetBatch(const Batch& batch, Stream& stream) override;
  absl::Status Enqueue(int section, Stream& stream) override;
  Event& section_event(int section) override { return *runs_[section].event; }
  absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) override;

 private:
  // How a section runs.
  struct SectionRun {
    std::unique_ptr<Event> event;
    // What replicas do before; null: nothing.
    const cuda::ProgramParts::Exchange* exchange = nullptr;
    // The first run is not captured: libraries load their kernels in it.
    bool has_run = false;
    // By group; null until captured.
    std::vector<std::unique_ptr<cuda::CapturedGraph>> graphs;
  };

  CudaProgram(const ProgramSpec& spec, CudaState& state,
              cuda::ProgramParts parts);
  absl::Status Allocate();
  absl::Status AllocateConstants();
  absl::Status AllocateExchanges();
  int64_t OutputBytes() const;
  // Gives the tensors their addresses, if the arena has moved.
  // FailedPrecondition: a larger program took it, and found no room.
  absl::Status BindToArena();
  // Waits for the doubles, and for the other replicas.
  absl::Status AllReduceStatistics(const cuda::ProgramParts::Exchange& exchange,
                                   cuda::Queue& queue);
  // What the kernels are told of the batch.
  cuda::StepValues StepOf(const Batch& batch) const;
  // Runs a section for the buffers of the group at hand.
  absl::Status Run(int section, cuda::Queue& queue);
  // Gives the batch's tensors their addresses, those of a buffer.
  void PlaceBatch(int buffer);
  absl::Status EnqueueGroup(int section, bool waits, cuda::Queue& queue);
  // Errors name the layer. With `waits`, those of running the operations, too.
  absl::Status EnqueueOperations(int section, int buffer, bool waits,
                                 cuda::Queue& queue);
  absl::Status RunKept(cuda::Queue& queue) override;
  int first_buffer() const { return group_ * groups_.size; }

  const ProgramSpec spec_;
  // Not null: the program updates the variables by it.
  const Optimizer* const optimizer_;
  // Null: it sums nothing up with others.
  const DeviceGroup* const group_of_devices_;
  const cuda::BufferGroups groups_;
  CudaState& state_;
  cuda::ProgramParts parts_;
  std::vector<Section> sections_;
  std::vector<SectionRun> runs_;
  cuda::BatchBuffers buffers_;
  // The group that is filled, and how many of its steps are kept back.
  int group_ = 0;
  int kept_ = 0;
  // Of an evaluation, one after the other.
  cuda::MemoryBlock host_outputs_;
  // Constants, on their way with the first batch.
  cuda::MemoryBlock host_constants_;
  cuda::MemoryBlock device_constants_;
  int64_t constants_size_bytes_ = 0;
  bool has_constants_ = false;
  // Doubles on their way to the other replicas.
  cuda::MemoryBlock host_doubles_;
  std::unique_ptr<Event> doubles_are_there_;
  // The arena that the tensors point into.
  std::byte* arena_ = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CUDA_CUDA_PROGRAM_H_
