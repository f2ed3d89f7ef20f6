// Batches made ahead of the trainer, on a thread of their own.
//
//   lease source ──lease──> prefetch thread ──batches──> trainer
//                                 ^                         │
//                                 └──────── buffers ────────┘
//
// The prefetch thread takes a lease, reads its examples in the order of the
// epoch, converts them straight into one of a few buffers made at the start,
// and goes on over the lease's end to the next, until all buffers are full. The
// trainer gets the batches in that order and gives their buffers back.
//
// A lease [begin, end) is cut into steps from its begin on; the last one has
// what is left. Where replicas share a step, each takes its slice, which may be
// empty at the end. Nothing is dropped or padded.
#ifndef PACELINE_WORKER_DATA_BATCH_PIPELINE_H_
#define PACELINE_WORKER_DATA_BATCH_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/data_source/data_source.h"
#include "common/data_source/model_arrays.h"
#include "common/tensor/shape.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/data/epoch_order.h"

namespace paceline {

// What the leases of one phase are about.
struct PhaseData {
  // Outlives the pipeline.
  const DataSource* source = nullptr;
  OrderOptions order;
  // Factor applied to each value of the features.
  double scale = 1;
  // Examples of a step, at least 1, of which this replica takes slice `rank` of
  // `replica_count` slices.
  int64_t step_size = 0;
  int rank = 0;
  int replica_count = 1;

  // The slice of a step of `count` examples: its begin and its size.
  int64_t SliceBegin(int64_t count) const {
    return count * rank / replica_count;
  }
  int64_t SliceSize(int64_t count) const {
    return count * (rank + 1) / replica_count - SliceBegin(count);
  }

  // Of this replica's batches in an epoch: those of whole steps, and that of
  // the last one if it has less. A pass that goes on within an epoch after a
  // restart may have others.
  std::vector<int64_t> BatchSizes() const {
    const int64_t examples =
        order.epoch_examples == 0 ? order.count : order.epoch_examples;
    std::vector<int64_t> sizes;
    if (examples >= step_size) sizes.push_back(SliceSize(step_size));
    const int64_t rest = examples % step_size;
    if (rest > 0) sizes.push_back(SliceSize(rest));
    return sizes;
  }
};

struct PipelineOptions {
  // Phases may share a source, as training and a validation split do.
  std::map<v1::Phase, PhaseData> phases;
  // What a batch has arrays for.
  ModelArrays model;
  // Type of all values but class ids: kFloat32 or kFloat64.
  DataType type = DataType::kFloat32;
};

// What the examples of a batch have for an input or an output of the model.
struct PreparedArray {
  // kInt32 for class ids, else PipelineOptions::type.
  DataType type = DataType::kFloat32;
  // Shape [count, shape of ModelArray...], aligned to 64 bytes. Mutable only
  // for the pipeline.
  std::byte* data = nullptr;
};

// Examples ready for a device.
struct PreparedBatch {
  // The lease they belong to.
  v1::Lease lease;
  // The position, in the epoch's order, of the first example; the others
  // follow.
  int64_t begin = 0;
  // Examples; 0 only where replicas share the step.
  int64_t count = 0;
  // Examples of the step, over all who share it.
  int64_t step_count = 0;
  // Examples of the lease that this replica has done once this batch is.
  int64_t done_of_lease = 0;
  bool ends_lease = false;
  // For the inputs and the outputs of PipelineOptions::model, in its order.
  std::vector<PreparedArray> features;
  std::vector<PreparedArray> labels;
};

// Next and Release are for one thread; Cancel may be called by any. Once all
// buffers are in use nothing is allocated between two leases.
class BatchPipeline {
 public:
  // Gives the next lease, or nullopt when there will be none. Called on the
  // prefetch thread, where it may block; its owner must end its wait before the
  // pipeline is destroyed.
  using LeaseSource = std::function<absl::StatusOr<std::optional<v1::Lease>>()>;

  // InvalidArgument if the source of a phase does not fit the model, or a batch
  // has too many elements. Also errors of DataSource::MakeReader.
  static absl::StatusOr<std::unique_ptr<BatchPipeline>> Create(
      const PipelineOptions& options, LeaseSource lease_source);

  // Cancels and waits for the prefetch thread.
  ~BatchPipeline();
  BatchPipeline(const BatchPipeline&) = delete;
  BatchPipeline& operator=(const BatchPipeline&) = delete;

  // The next batch, which stays valid until it is released; waits at most
  // `timeout`. nullptr: there is none yet, or, if has_ended(), there will be
  // none. An error of the lease source, of the data or of a lease that does not
  // fit the data comes at once, before batches that are ready; Cancelled after
  // Cancel.
  absl::StatusOr<const PreparedBatch*> Next(absl::Duration timeout);

  // Gives the buffer of the oldest batch that was not released back. Batches
  // are released in the order in which they came.
  void Release(const PreparedBatch* batch);

  // Whether the lease source has ended and all its batches were taken.
  bool has_ended() const;

  // Makes the pipeline stop: a wait in Next ends.
  void Cancel();

 private:
  // Three batches ahead, and the one the trainer works on.
  static constexpr int kBufferCount = 4;

  struct AlignedDelete {
    void operator()(std::byte* memory) const;
  };
  using AlignedMemory = std::unique_ptr<std::byte[], AlignedDelete>;

  struct Phase {
    PhaseData data;
    EpochOrder order;
    ArrayMatch match;
    std::unique_ptr<ExampleReader> reader;
  };

  // Of an array of a batch.
  struct Column {
    DataType type = DataType::kFloat32;
    // Elements of one example.
    int64_t row_size = 0;
    // As ModelArray has it.
    int64_t class_count = 0;
  };

  BatchPipeline(const PipelineOptions& options, LeaseSource lease_source,
                std::map<v1::Phase, Phase> phases, int64_t batch_size);
  static std::vector<Column> ColumnsOf(const std::vector<ModelArray>& arrays,
                                       DataType type);
  static AlignedMemory Allocate(int64_t size_bytes);
  void AllocateBatches(int64_t batch_size);

  // On the prefetch thread.
  void Run();
  absl::Status MakeBatches();
  absl::Status MakeBatchesOf(const v1::Lease& lease);
  absl::StatusOr<PreparedBatch*> AwaitBuffer();
  void Publish();
  template <typename T>
  absl::Status Fill(Phase& phase, PreparedBatch& batch);
  template <typename T>
  absl::Status FillRow(const Example& example, const Phase& phase, int64_t row,
                       PreparedBatch& batch) const;
  // Converts an example's values to row `row` of `out`.
  template <typename T>
  static absl::Status Convert(const Elements& values, T scale,
                              const Column& column, int64_t row,
                              std::byte* out);

  const DataType type_;
  const std::vector<Column> features_;
  const std::vector<Column> labels_;
  const LeaseSource lease_source_;

  // Of the prefetch thread alone.
  std::map<v1::Phase, Phase> phases_;

  // Batch i of the pipeline's life is in batches_[i % kBufferCount], which the
  // prefetch thread owns until it is made, and the trainer until it is
  // released.
  AlignedMemory memory_;
  PreparedBatch batches_[kBufferCount];

  mutable Mutex mutex_;
  CondVar changed_;
  int64_t made_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t released_ ABSL_GUARDED_BY(mutex_) = 0;
  // The prefetch thread makes no more batches, because of `status_`.
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_BATCH_PIPELINE_H_
