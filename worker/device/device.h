// The interface between a device that computes and the trainer and strategies.
//
// A Device compiles a model for one batch size and mode into a Program. A
// program is a list of sections, cut where the gradients of a bucket are
// complete. The trainer enqueues one section after another on a Stream. When
// the Event of a section has passed, the strategy starts on the section's
// buckets, while the next sections run:
//
//   program.SetBatch(batch, stream)
//   for each section:  program.Enqueue(section, stream)
//                      event of the section → strategy takes its buckets
//
// This overlaps communication with backward, as DistributedDataParallel of
// PyTorch does (Li et al., VLDB 2020). Invariants:
//  * Each updated bucket is ready in exactly one section, and final in that
//    section or a later one. "Ready": its gradients are complete. "Final": no
//    later section of the step reads its variables, so they may be overwritten.
//  * Sections are enqueued in order, each once per step.
//
// Some devices can also hold the optimizer's slots, and update the variables at
// the end of each step (ProgramSpec::optimizer). Then a step is a single
// section, no gradient leaves the device, and the host does not wait for each
// step.
//
// On the CPU, Enqueue computes the section before it returns, and events have
// always passed. On CUDA a stream is a cudaStream_t, an event a cudaEvent_t, a
// section a captured CUDA graph, host views are pinned memory, and copies
// between host and device are enqueued, too.
//
// After the first steps, nothing here allocates memory, except inside of
// libraries.
#ifndef PACELINE_WORKER_DEVICE_DEVICE_H_
#define PACELINE_WORKER_DEVICE_DEVICE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/graph.h"
#include "common/model/output_spec.h"
#include "common/optimizer/loss_scaling.h"
#include "common/sharding/bucket_layout.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"
#include "worker/device/device_group.h"
#include "worker/device/stream.h"

namespace paceline {

class Optimizer;

// Values in host memory that the caller owns.
struct HostTensor {
  DataType type = DataType::kFloat32;
  const void* data = nullptr;
};

// One batch of examples, with the scales of its gradients.
struct Batch {
  // Number of examples: the batch size of the program.
  int64_t count = 0;
  // For each of Graph::inputs: float32 (float64 for a float64 device), shape
  // [count, input shape...].
  std::vector<HostTensor> features;
  // For each of ProgramSpec::outputs: int32 class ids if they are sparse, else
  // the type of the features; of shape [count, label shape...]
  // (OutputSpec::LabelShape).
  std::vector<HostTensor> labels;
  // The same, if OutputSpec::has_sample_weights: the type of the features and
  // shape [count].
  std::vector<HostTensor> weights = {};
  // Position of the first example in the epoch's order; the others are
  // consecutive. With `epoch`, it seeds Dropout.
  int64_t first_example = 0;
  int64_t epoch = 0;
  // The loss is Σ weight · loss / loss_divisor over all examples and outputs;
  // loss_divisor is the number of examples in the global batch.
  double loss_divisor = 1;
  // Factor of the regularizers' gradients: this batch's fraction of the global
  // batch. Over all replicas the fractions add up to 1.
  double regularization_scale = 1;
  // In training: the number of the step for MetricSums, from 1.
  int64_t step = 1;
  // If the device updates: the learning rate of the step; nullopt: that of the
  // optimizer's schedule.
  std::optional<double> learning_rate = std::nullopt;
};

// The states of the loss (including regularization) and the metrics, summed
// over the examples since the last reset.
struct MetricSums {
  // In the layout of MetricLayout.
  std::vector<double> states;
  // Batch::step of the first training step whose loss was NaN or infinite; 0:
  // none. A step that loss scaling skips is not counted, nor is its loss added
  // if it is not finite.
  int64_t first_nonfinite_step = 0;

  // Adds the sums over later examples. Both must have the same size.
  void Add(const MetricSums& later);
  void Reset();
  // Call it after each training step that added its loss. It checks the sum,
  // which stays NaN or infinite once it is.
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

// The optimizer's state on a device that updates the variables: slots, laid out
// like the variables, and the number of updates. Slots and variables in host
// memory are then only copies.
class DeviceUpdates {
 public:
  virtual ~DeviceUpdates() = default;

  // Updates enqueued so far. Can be set, to continue from a checkpoint.
  virtual int64_t iterations() const = 0;
  virtual void set_iterations(int64_t iterations) = 0;

  // Copies a slot of a trained bucket from or to the host, or a bucket's
  // variables to host_variables, after the steps enqueued so far. Blocks until
  // the copy is done.
  virtual absl::Status UploadSlot(int bucket, int slot,
                                  absl::Span<const std::byte> from,
                                  Stream& stream) = 0;
  virtual absl::Status DownloadSlot(int bucket, int slot,
                                    absl::Span<std::byte> to,
                                    Stream& stream) = 0;
  virtual absl::Status DownloadVariables(int bucket, Stream& stream) = 0;
};

// A model's variables and gradients on a device, in the buckets of the plan.
// All programs of the model share it.
class ModelState {
 public:
  virtual ~ModelState() = default;

  // float32, or float64 on the reference device.
  virtual DataType type() const = 0;

  // A bucket's variables and gradients in host memory; on the CPU the memory
  // that programs use directly. The addresses do not change. Frozen buckets
  // have no gradients. If the device updates, no gradients are in host memory.
  virtual absl::Span<std::byte> host_variables(int bucket) = 0;
  virtual absl::Span<std::byte> host_gradients(int bucket) = 0;

  // Copies a bucket's variables from host memory to the device. Call it after
  // writing them, before the next section that reads them.
  virtual absl::Status UploadVariables(int bucket, Stream& stream) = 0;

  // Adds the device's sums to `sums`, which must have the right size, and
  // resets them. If `sums` already has a first non-finite step, keeps it.
  // Blocks until the stream is idle.
  virtual absl::Status TakeMetrics(Stream& stream, MetricSums& sums) = 0;

  // Null if the host updates the variables.
  virtual DeviceUpdates* device_updates() { return nullptr; }
};

enum class Mode { kTrain, kEvaluate };

// The element type in which layers compute. Variables, updates, accumulators,
// the last layer and the loss are always float32 (Micikevicius et al., "Mixed
// Precision Training", 2018). Layers also give gradients of variables as
// float32, although a convolution may have rounded them. kMixedFloat16 scales
// the loss like Keras' LossScaleOptimizer (ProgramSpec::loss_scaling); each
// state has its own scale. In a
// step whose gradients overflow, the device's update has no effect, but is
// counted. If gradients leave the device, all buckets from the overflow on are
// 0.
enum class Precision { kFloat32, kMixedFloat16, kMixedBFloat16 };

// A part of a step.
struct Section {
  // Buckets whose gradients are complete after this section. Each updated
  // bucket is in exactly one section; none is if the device updates.
  std::vector<int> ready_buckets;
  // Buckets that are ready, and whose variables no later section reads, so that
  // an update may overwrite them. Each is in exactly one section.
  std::vector<int> final_buckets;
};

// A model compiled for one batch size and mode. Not thread-safe.
class Program {
 public:
  virtual ~Program() = default;

  virtual int64_t batch_size() const = 0;

  // In the order in which they must be enqueued. At least one.
  virtual absl::Span<const Section> sections() const = 0;

  // Sets the batch of the next sections. Its memory must stay valid until the
  // last section is enqueued. Blocks if too many batches are being copied to
  // the device. InvalidArgument if counts or types do not fit, or a label or id
  // is out of range (with its value).
  virtual absl::Status SetBatch(const Batch& batch, Stream& stream) = 0;

  // Enqueues a section. Layers with synchronized statistics block here for the
  // other replicas. In training, the gradients of the section's ready buckets
  // are overwritten and copied to host_gradients; or, if the device updates,
  // the variables are updated.
  //
  // With steps_per_execution, the program may hold steps back until it has that
  // many. UploadVariables, TakeMetrics, the copies of DeviceUpdates, and a
  // batch for another program of the state enqueue these steps first.
  virtual absl::Status Enqueue(int section, Stream& stream) = 0;

  // The event passes when the section, as last enqueued and not held back, is
  // done, and its gradients are in host memory.
  virtual Event& section_event(int section) = 0;

  // After the last section of Mode::kEvaluate: each of Graph::outputs, shape
  // [batch, output shape...], in host memory, valid until the next SetBatch.
  // Blocks until the stream is idle.
  virtual absl::StatusOr<std::vector<HostTensor>> Outputs(Stream& stream) = 0;
};

// The all-reduce of synchronized statistics over the replicas that take a step
// together. All replicas must make the same calls in the same order, and get
// the same bits. Not thread-safe. Calls block, with deadlines.
class StatisticsAllReduce {
 public:
  // A member function: one of the two all-reduces.
  using Reduction = void (StatisticsAllReduce::*)(absl::Span<double>);

  virtual ~StatisticsAllReduce() = default;

  // After an error, which Take returns, both functions have no effect.
  //
  // Replaces values by their sums over the replicas, in an order that depends
  // only on the number of replicas.
  virtual void AddUp(absl::Span<double> values) = 0;
  // Replaces the moments of this replica's rows by those of all replicas' rows
  // (merge_moments.h): the number of rows, then the mean of each channel, then
  // Σ (x − mean)² of each channel. All zeros if there are no rows.
  virtual void MergeMoments(absl::Span<double> moments) = 0;
  virtual absl::Status Take() = 0;
};

// The input of Device::Compile. The objects pointed to must outlive the
// program.
struct ProgramSpec {
  const Graph* graph = nullptr;
  const BucketLayout* bucket_layout = nullptr;
  // Of the outputs that have labels. Empty, only in Mode::kEvaluate: no loss,
  // no labels.
  std::vector<OutputSpec> outputs = {};
  Mode mode = Mode::kTrain;
  // The device must support it (CanCompute).
  Precision precision = Precision::kFloat32;
  int64_t batch_size = 0;
  // For kMixedFloat16.
  LossScaling loss_scaling = {};
  // The job's seed, for Dropout.
  uint64_t seed = 0;
  // Null: statistics are those of this replica's batch only.
  StatisticsAllReduce* statistics_all_reduce = nullptr;
  // Host memory for the state's gradients (bucket_memory.h), which must outlive
  // the state. Empty: the state allocates it.
  absl::Span<std::byte> gradient_memory = {};
  // If set: the device, which must be able to (CanUpdate), holds the slots and
  // updates the variables in each step of Mode::kTrain. For the state and its
  // programs.
  const Optimizer* optimizer = nullptr;
  // At least 1. If the device updates, up to this many steps may be held back
  // and launched at once; otherwise steps run one by one.
  int steps_per_execution = 1;
  // With `optimizer`: the group sums gradients before the update. All ranks
  // must take the same steps; a rank without an example runs a program of batch
  // size 0. Null: no other replica has gradients.
  DeviceGroup* group = nullptr;
};

// Thread-safe. Must outlive everything it creates.
class Device {
 public:
  virtual ~Device() = default;

  // "cpu", "reference", "cuda:0".
  virtual std::string name() const = 0;

  // OK if the device can compute the graph, the loss and the metrics of `spec`;
  // ignores other fields. Unimplemented names the layer, loss or metric, and
  // the operation that the device lacks.
  virtual absl::Status Supports(const ProgramSpec& spec) const = 0;

  virtual bool CanCompute(Precision precision) const {
    return precision == Precision::kFloat32;
  }

  // Whether the device can update variables, by any optimizer.
  virtual bool CanUpdate() const { return false; }

  // UUID of the GPU, if it can join an NCCL group: unique over all machines.
  // "": it cannot.
  virtual std::string gpu_uuid() const { return ""; }
  // Creates NCCL's unique id for a new group. Only for devices with a
  // gpu_uuid, like JoinGroup.
  virtual absl::StatusOr<std::string> NewNcclId();
  // Joins a group. Blocks until all ranks have joined. DeadlineExceeded: not
  // all joined in time. The returned object must outlive the programs that use
  // it.
  virtual absl::StatusOr<std::unique_ptr<DeviceGroup>> JoinGroup(
      const DeviceGroupOptions& options);

  // ResourceExhausted, here and in the methods below: out of memory.
  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream() = 0;

  // Creates variables, gradients and slots for `plan`, zeroed.
  virtual absl::StatusOr<std::unique_ptr<ModelState>> CreateState(
      const ProgramSpec& spec) = 0;

  // Compiles a program for `state`, which this device must have created and
  // which must outlive the program. All programs of a state share one arena, so
  // only one of them may be between SetBatch and its last event.
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
