// A program of the CUDA device: a list of operations, captured as one CUDA
// graph per section.
//
// If the device updates the variables, a step is one section, and one graph has
// all steps of a group, which are launched at once. The host does not wait for
// them: it copies batches into the buffers of one group while the GPU computes
// the other.
//
//   buffers   | 0 1 2 | 3 4 5 |          three steps per group
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
  // Runs `parts`, which were compiled for `spec` and `state`. `state` must
  // outlive the program.
  static absl::StatusOr<std::unique_ptr<CudaProgram>> Create(
      const ProgramSpec& spec, CudaState& state, cuda::ProgramParts parts);
  // Drops steps that are held back.
  ~CudaProgram() override;

  int64_t batch_size() const override { return spec_.batch_size; }
  absl::Span<const Section> sections() const override { return sections_; }
  absl::Status SetBatch(const Batch& batch, Stream& stream) override;
  absl::Status Enqueue(int section, Stream& stream) override;
  Event& section_event(int section) override { return *runs_[section].event; }
  absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) override;

 private:
  // How to run a section.
  struct SectionRun {
    std::unique_ptr<Event> event;
    // The all-reduce of statistics before the section; null: none.
    const cuda::ProgramParts::Exchange* exchange = nullptr;
    // The first run is not captured, since libraries load their kernels in it.
    bool has_run = false;
    // By group of buffers; null until captured.
    std::vector<std::unique_ptr<cuda::CapturedGraph>> graphs;
  };

  CudaProgram(const ProgramSpec& spec, CudaState& state,
              cuda::ProgramParts parts);
  absl::Status Allocate();
  absl::Status AllocateConstants();
  absl::Status AllocateExchanges();
  int64_t OutputBytes() const;
  // Sets the tensors' addresses again if the arena has moved.
  // FailedPrecondition: there is no arena, since enlarging it for a larger
  // program failed.
  absl::Status BindToArena();
  // Blocks until the doubles are computed and all replicas have all-reduced
  // them.
  absl::Status AllReduceStatistics(const cuda::ProgramParts::Exchange& exchange,
                                   cuda::Queue& queue);
  // The values of this step that kernels read.
  cuda::StepValues StepOf(const Batch& batch) const;
  // Runs a section for the current group of buffers.
  absl::Status Run(int section, cuda::Queue& queue);
  // Sets the addresses of the batch's tensors to those in a buffer.
  void PlaceBatch(int buffer);
  absl::Status EnqueueGroup(int section, bool waits, cuda::Queue& queue);
  // Enqueues a section's operations. Errors name the layer. With `waits`,
  // blocks until they have run, so that errors of running them name the layer,
  // too.
  absl::Status EnqueueOperations(int section, int buffer, bool waits,
                                 cuda::Queue& queue);
  absl::Status RunKept(cuda::Queue& queue) override;
  int first_buffer() const { return group_ * groups_.size; }

  const ProgramSpec spec_;
  // If set, the program updates the variables by this optimizer.
  const Optimizer* const optimizer_;
  // Null: gradients are not summed with other devices.
  const DeviceGroup* const group_of_devices_;
  const cuda::BufferGroups groups_;
  CudaState& state_;
  cuda::ProgramParts parts_;
  std::vector<Section> sections_;
  std::vector<SectionRun> runs_;
  cuda::BatchBuffers buffers_;
  // The group that is being filled, and how many of its steps are held back.
  int group_ = 0;
  int kept_ = 0;
  // The outputs of an evaluation, concatenated.
  cuda::MemoryBlock host_outputs_;
  // Constants; they are copied to the GPU with the first batch.
  cuda::MemoryBlock host_constants_;
  cuda::MemoryBlock device_constants_;
  int64_t constants_size_bytes_ = 0;
  bool has_constants_ = false;
  // Doubles that are all-reduced with the other replicas.
  cuda::MemoryBlock host_doubles_;
  std::unique_ptr<Event> doubles_are_there_;
  // The arena when the tensors' addresses were set.
  std::byte* arena_ = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_CUDA_CUDA_PROGRAM_H_
