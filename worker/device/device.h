// What a strategy and the trainer know of the machine that computes.
//
// A Device compiles a model for one batch size and mode into a Program. A
// program is a list of sections, cut where the gradients of a bucket become
// final. The trainer enqueues section after section on a Stream; as a section's
// Event passes, the strategy starts on its buckets while the next sections run:
//
//   program.SetBatch(batch, stream)
//   for each section:  program.Enqueue(section, stream)
//                      event of the section → strategy takes its buckets
//
// A device that can may hold the optimizer's state too, and update the
// variables as the end of each step (ProgramSpec::optimizer): then a step is
// one section, no gradient leaves the device, and nobody waits for a step.
//
// On the CPU a stream runs what is enqueued at once and events have always
// passed. On CUDA a stream is a cudaStream_t, an event a cudaEvent_t, a section
// a captured graph, host views are pinned memory, and the copies between them
// and the device are enqueued.
//
// Nothing here allocates in a warm step, apart from what a library does inside.
#ifndef PACELINE_WORKER_DEVICE_DEVICE_H_
#define PACELINE_WORKER_DEVICE_DEVICE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/output_spec.h"
#include "common/sharding/shard_plan.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"
#include "worker/device/device_group.h"
#include "worker/device/stream.h"

namespace paceline {

class Optimizer;

// Values in host memory that somebody else owns.
struct HostTensor {
  DataType type = DataType::kFloat32;
  const void* data = nullptr;
};

// One batch of examples, and what scales its gradients.
struct Batch {
  // Examples; the batch size of the program that runs it.
  int64_t count = 0;
  // Of each of Graph::inputs: float32 (float64 for a float64 device), shape
  // [count, input shape...].
  std::vector<HostTensor> features;
  // Of each of Graph::outputs: int32 class ids of shape [count] under a sparse
  // loss, else of the type of the features and shape [count, output shape...].
  std::vector<HostTensor> labels;
  // The first example's position in the epoch's order; the others follow. With
  // `epoch` it keys Dropout.
  int64_t first_example = 0;
  int64_t epoch = 0;
  // The gradients are of Σ weight · loss / loss_divisor over all examples and
  // outputs: the examples of the global batch.
  double loss_divisor = 1;
  // Factor of the regularizers' gradients: this batch's share of the global
  // batch, so that the shares of all replicas add up to 1.
  double regularization_scale = 1;
  // In training, the number by which MetricSums names the step, from 1.
  int64_t step = 1;
};

// The states of the loss (with regularization) and the metrics over the
// examples since the last reset.
struct MetricSums {
  // As MetricLayout has them.
  std::vector<double> states;
  // Batch::step of the first step of training whose loss was infinite or no
  // number; 0: none. A step that loss scaling skips does not count, nor does
  // its loss in the sums if that is not finite.
  int64_t first_nonfinite_step = 0;

  // Adds what was summed up after these. Both are of the same size.
  void Add(const MetricSums& later);
  void Reset();
  // To be called after each step of training that added its loss: a sum that
  // is not finite remains so.
  void NoteLoss(int64_t step) {
    if (first_nonfinite_step == 0 && !std::isfinite(states[0])) {
      first_nonfinite_step = step;
    }
  }
};

inline void MetricSums::Add(const MetricSums& later) {
  CHECK_EQ(states.size(), later.states.size());
  for (size_t i = 0; i < states.size(); ++i) states[i] += later.states[i];
  if (first_nonfinite_step == 0) {
    first_nonfinite_step = later.first_nonfinite_step;
  }
}
inline void MetricSums::Reset() {
  std::fill(states.begin(), states.end(), 0);
  first_nonfinite_step = 0;
}

// What a state has beside its variables, where the device updates them: slots,
// laid out as the variables are, and a count of updates. Those in host memory
// are copies then.
class DeviceUpdates {
 public:
  virtual ~DeviceUpdates() = default;

  // Updates enqueued so far, and the count to go on from.
  virtual int64_t iterations() const = 0;
  virtual void set_iterations(int64_t iterations) = 0;

  // Copies a slot of a trained bucket from and to the host, and the variables
  // of a bucket to host_variables, behind the steps enqueued so far. They wait
  // for the copy.
  virtual absl::Status UploadSlot(int bucket, int slot,
                                  absl::Span<const std::byte> from,
                                  Stream& stream) = 0;
  virtual absl::Status DownloadSlot(int bucket, int slot,
                                    absl::Span<std::byte> to,
                                    Stream& stream) = 0;
  virtual absl::Status DownloadVariables(int bucket, Stream& stream) = 0;
};

// A model's variables and gradients on a device, shared by its programs. Laid
// out in the buckets of the plan.
class ModelState {
 public:
  virtual ~ModelState() = default;

  // float32, or float64 on the reference device.
  virtual DataType type() const = 0;

  // A bucket's variables and gradients in host memory; on the CPU the very
  // memory the programs use. Stable for the life of the state. Frozen buckets
  // have no gradients. Where the device updates, gradients have no host memory.
  virtual absl::Span<std::byte> host_variables(int bucket) = 0;
  virtual absl::Span<std::byte> host_gradients(int bucket) = 0;

  // Brings the host's variables of a bucket to the device; to be called after
  // they were written, before the next section that reads them.
  virtual absl::Status UploadVariables(int bucket, Stream& stream) = 0;

  // Adds the sums since the last call to `sums`, which has the right size, and
  // resets them; the first step with a bad loss stays if `sums` has one. Waits
  // for the stream.
  virtual absl::Status TakeMetrics(Stream& stream, MetricSums& sums) = 0;

  // Null where the host updates the variables.
  virtual DeviceUpdates* device_updates() { return nullptr; }
};

enum class Mode { kTrain, kEvaluate };

// What layers compute in. Variables, their updates, sums within an operation,
// the last layer and the loss are float32 in all of them (Micikevicius et al.:
// Mixed Precision Training, 2018); so are gradients of variables as they leave
// the layer, though a convolution may have rounded them. kMixedFloat16 scales
// the loss, as Keras' LossScaleOptimizer does; each state has a scale of its
// own. In a step whose gradients overflow, the device's update does nothing,
// though it counts; where gradients leave the device, buckets from the overflow
// on are 0.
enum class Precision { kFloat32, kMixedFloat16, kMixedBFloat16 };

// A stretch of a step.
struct Section {
  // Buckets whose gradients are complete after it, so that they can travel;
  // each that steps update once. None where the device updates.
  std::vector<int> ready_buckets;
  // Buckets that were ready before or are now, and whose variables no later
  // section reads, so that an update may overwrite them; each once.
  std::vector<int> final_buckets;
};

// A model compiled for one batch size and mode. Not thread-safe.
class Program {
 public:
  virtual ~Program() = default;

  virtual int64_t batch_size() const = 0;

  // In the order in which they must be enqueued. At least one.
  virtual absl::Span<const Section> sections() const = 0;

  // Makes `batch` the one that the next sections work on. Its memory must stay
  // valid until the last section is enqueued. Waits where too many batches are
  // on their way to the device. InvalidArgument if its counts or types do not
  // fit, or a label or id is out of range (named with its value).
  virtual absl::Status SetBatch(const Batch& batch, Stream& stream) = 0;

  // Enqueues a section; layers that share statistics wait here for the other
  // replicas. In training, gradients of the buckets it finishes overwrite what
  // was there, and are copied to host_gradients; or, where the device updates,
  // the variables are updated.
  //
  // Steps may be kept back (steps_per_execution) until their number is full, or
  // until something must come after them: a batch for another program of the
  // state, UploadVariables, TakeMetrics and the copies of DeviceUpdates enqueue
  // them first.
  virtual absl::Status Enqueue(int section, Stream& stream) = 0;

  // Passes when the section, as last enqueued and not kept back, is done, and
  // the gradients that it finished are in host memory.
  virtual Event& section_event(int section) = 0;

  // After the last section of Mode::kEvaluate: each of Graph::outputs, shape
  // [batch, output shape...], in host memory, valid until the next SetBatch.
  // Waits for the stream.
  virtual absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) = 0;
};

// The all-reduce of synchronized statistics, which layers take of the batches
// of all replicas that take a step together. All replicas make the same calls
// in the same order, and get the same bits. Not thread-safe. Blocks, with
// deadlines.
class StatisticsAllReduce {
 public:
  // One of the two all-reduces.
  using Reduction = void (StatisticsAllReduce::*)(absl::Span<double>);

  virtual ~StatisticsAllReduce() = default;

  // After an error, which Take returns, these do nothing.
  //
  // Replaces values by their sums over the replicas, in an order that depends
  // on their number alone.
  virtual void AddUp(absl::Span<double> values) = 0;
  // Replaces moments of a replica's rows by those of the rows of all replicas
  // (merge_moments.h): the number of rows, then the mean of each channel, then
  // its Σ (x − mean)². Without a row: zeros.
  virtual void MergeMoments(absl::Span<double> moments) = 0;
  virtual absl::Status Take() = 0;
};

// What a program is compiled from. The pointed-to objects outlive the program.
struct ProgramSpec {
  const Graph* graph = nullptr;
  const ShardPlan* plan = nullptr;
  // As Graph::outputs.
  std::vector<OutputSpec> outputs = {};
  Mode mode = Mode::kTrain;
  // Of a device that CanCompute in it.
  Precision precision = Precision::kFloat32;
  int64_t batch_size = 0;
  // Seed of the job: keys Dropout.
  uint64_t seed = 0;
  // Null: each replica is alone with its batch.
  StatisticsAllReduce* statistics_all_reduce = nullptr;
  // Where a state's gradients are to lie in host memory (bucket_memory.h);
  // outlives the state. Empty: in memory of its own.
  absl::Span<std::byte> gradient_memory = {};
  // Not null: the device, which CanUpdate, holds its slots and updates
  // the variables in each step of Mode::kTrain. For the state and its programs.
  const Optimizer* optimizer = nullptr;
  // At least 1. Where the device updates, so many steps may be kept back and
  // launched at once; elsewhere steps run one by one.
  int steps_per_execution = 1;
  // With `optimizer`: gradients are summed up over the group before the update.
  // All its ranks take the same steps, those without an example by a program of
  // batch size 0. Null: the device is alone.
  DeviceGroup* group = nullptr;
};

// Thread-safe. Outlives what it makes.
class Device {
 public:
  virtual ~Device() = default;

  // "cpu", "reference", "cuda:0".
  virtual std::string name() const = 0;

  // Whether it can compute the graph, the loss and the metrics of `spec`, which
  // alone are read. Unimplemented names the layer, loss or metric, and the
  // operation that the device lacks.
  virtual absl::Status Supports(const ProgramSpec& spec) const = 0;

  virtual bool CanCompute(Precision precision) const {
    return precision == Precision::kFloat32;
  }

  // Whether it can update variables itself, by any optimizer.
  virtual bool CanUpdate() const { return false; }

  // The UUID of a GPU that can be in a group: no other has it, on no machine.
  // "": the device cannot.
  virtual std::string gpu_uuid() const { return ""; }
  // NCCL's unique id of a new group. Of a device with a gpu_uuid, as JoinGroup
  // is.
  virtual absl::StatusOr<std::string> NewNcclId();
  // Becomes a rank of a group. Blocks until all ranks have come.
  // DeadlineExceeded: not all came in time. The end of the group outlives the
  // programs that use it.
  virtual absl::StatusOr<std::unique_ptr<DeviceGroup>> JoinGroup(
      const DeviceGroupOptions& options);

  // ResourceExhausted, as of those below: a memory is full.
  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream() = 0;

  // Variables, gradients and slots for `plan`, zeroed.
  virtual absl::StatusOr<std::unique_ptr<ModelState>> CreateState(
      const ProgramSpec& spec) = 0;

  // Compiles a program over `state`, which this device made and which outlives
  // the program. Programs over one state share one arena: only one may be
  // between SetBatch and its last event.
  virtual absl::StatusOr<std::unique_ptr<Program>> Compile(
      const ProgramSpec& spec, ModelState& state) = 0;
};

inline absl::StatusOr<std::string> Device::NewNcclId() {
  return absl::UnimplementedError(name() + " is in no groups");
}
inline absl::StatusOr<std::unique_ptr<DeviceGroup>> Device::JoinGroup(
    const DeviceGroupOptions& /*options*/) {
  return absl::UnimplementedError(name() + " is in no groups");
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_DEVICE_H_
