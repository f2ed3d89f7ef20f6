// Prepares batches ahead of the trainer, on separate threads.
//
//   lease source ──lease──> prefetch thread ──batches──> trainer
//                              │  ^                         │
//                           readers └─────── buffers ───────┘
//
// The prefetch thread takes a lease. It and as many other readers as the
// trainer needs (reader_tuner.h) read the lease's examples in the epoch's
// order, apply the job's steps to them, and convert them into one of a few
// preallocated buffers. At the end of a lease the thread continues with the
// next one, until all buffers are full. The trainer gets the batches in this
// order and returns their buffers. What is in them does not depend on the
// number of readers.
//
// A lease [begin, end) is cut into steps from its begin on; the last step may
// be smaller. If replicas share each step, each takes its slice, which may be
// empty in the last step. Nothing of a lease is dropped or padded.
#ifndef PACELINE_WORKER_DATA_BATCH_PIPELINE_H_
#define PACELINE_WORKER_DATA_BATCH_PIPELINE_H_

#include <atomic>
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
#include "common/base/read_fence.h"
#include "common/data_source/data_source.h"
#include "common/data_source/model_arrays.h"
#include "common/data_step/example_steps.h"
#include "common/tensor/shape.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/data/epoch_order.h"
#include "worker/data/reader_pool.h"
#include "worker/data/reader_tuner.h"
#include "worker/data/skipped_examples.h"
#include "worker/data/step_slices.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

// The data set and the batches for the leases of one phase.
struct PhaseData {
  // Must outlive the pipeline.
  const DataSource* source = nullptr;
  OrderOptions order;
  // Factor by which each feature is multiplied, after the steps.
  double scale = 1;
  // Examples in a step, at least 1. This replica takes slice `rank` of
  // `replica_count` slices.
  int64_t step_size = 0;
  int rank = 0;
  int replica_count = 1;
  // Applied to each example.
  StepOptions steps = {};
  // Batches of the phase that are ready ahead of the trainer, at most; at least
  // 1.
  int prefetch = 3;
  // Whether examples are read by one reader alone, since reading one means to
  // read those before it.
  bool is_stream = false;
  // Whether another example of the phase stands in for one that cannot be read:
  // the next one behind it that can. Not for streams.
  bool skips_errors = false;

  // First example and size of this replica's slice of a step with `count`
  // examples.
  int64_t SliceBegin(int64_t count) const {
    return paceline::SliceBegin(count, rank, replica_count);
  }
  int64_t SliceSize(int64_t count) const {
    return paceline::SliceSize(count, rank, replica_count);
  }

  // The sizes of this replica's batches in an epoch: of a full step, and of the
  // last step if that is smaller. After a resume within an epoch there may be
  // others.
  std::vector<int64_t> BatchSizes() const {
    const int64_t examples = order.ExamplesInEpoch();
    std::vector<int64_t> sizes;
    if (examples >= step_size) sizes.push_back(SliceSize(step_size));
    const int64_t rest = examples % step_size;
    if (rest > 0) sizes.push_back(SliceSize(rest));
    return sizes;
  }
};

struct PipelineOptions {
  // Phases may share a source, such as training and a validation split.
  std::map<v1::Phase, PhaseData> phases;
  // The arrays of a batch.
  ModelArrays model;
  // Type of all values except class ids: kFloat32 or kFloat64.
  DataType type = DataType::kFloat32;
  // The most threads that read at once.
  int readers = 1;
  // For what makes readers, which may open files.
  ReadFence fence = {};
  // Null, or gets what the prefetch thread does, and outlives the pipeline.
  TraceLane* lane = nullptr;
};

// The values in a batch for one input or output of the model.
struct PreparedArray {
  // kInt32 for class ids, else PipelineOptions::type.
  DataType type = DataType::kFloat32;
  // Shape [count, shape of ModelArray...], aligned to 64 bytes. Only the
  // pipeline writes to it.
  std::byte* data = nullptr;
};

// A batch that is ready for the device.
struct PreparedBatch {
  // The lease that the examples belong to.
  v1::Lease lease;
  // Position in the epoch's order of the first example of the batch; the others
  // are consecutive.
  int64_t begin = 0;
  // Number of examples; 0 only if replicas share the step.
  int64_t count = 0;
  // Examples in the step, over all replicas that share it.
  int64_t step_count = 0;
  // The step's number in its epoch, from 0, and how many the epoch has.
  int64_t epoch_step = 0;
  int64_t epoch_steps = 0;
  // Examples of the lease that this replica has processed after this batch.
  int64_t done_of_lease = 0;
  // How many of these `on_error: skip` has left out, so that others stand in.
  int64_t skipped_of_lease = 0;
  bool ends_lease = false;
  // The inputs and the outputs of PipelineOptions::model, in its order.
  std::vector<PreparedArray> features;
  std::vector<PreparedArray> labels;
  // Of each output, if ModelArrays::has_sample_weights.
  std::vector<PreparedArray> weights;
};

// Call Next and Release on one thread; any thread may call Cancel. Once all
// buffers have been used, it allocates memory only when it takes a lease or
// another reader.
class BatchPipeline {
 public:
  // Returns the next lease, or nullopt if there are no more. Called on the
  // prefetch thread, where it may block. Its owner must unblock it before the
  // pipeline is destroyed.
  using LeaseSource = std::function<absl::StatusOr<std::optional<v1::Lease>>()>;

  // InvalidArgument if what a phase's steps make of its source does not fit the
  // model, a batch has too many elements, or the batches do not fit into the
  // memory of this task. Other errors are those of ExampleSteps::Create and
  // DataSource::MakeReader.
  static absl::StatusOr<std::unique_ptr<BatchPipeline>> Create(
      const PipelineOptions& options, LeaseSource lease_source);

  // Cancels, and joins the threads.
  ~BatchPipeline();
  BatchPipeline(const BatchPipeline&) = delete;
  BatchPipeline& operator=(const BatchPipeline&) = delete;

  // The next batch, valid until it is released. Blocks for at most `timeout`.
  // Null: no batch is ready yet; or, if has_ended(), there are no more. An
  // error of the lease source, of the data, or of a lease that does not fit the
  // data is returned at once, before batches that are ready. Cancelled after
  // Cancel.
  absl::StatusOr<const PreparedBatch*> Next(absl::Duration timeout);

  // Returns the buffer of the oldest batch to the pipeline. Release batches in
  // the order in which Next returned them.
  void Release(const PreparedBatch* batch);

  // Whether the lease source has ended and Next has returned all batches.
  bool has_ended() const;
  // Examples that `on_error: skip` has left out so far, each as often as it was
  // wanted.
  int64_t skipped_examples() const { return skipped_.total(); }

  // Stops the pipeline and unblocks Next.
  void Cancel();

 private:
  struct AlignedDelete {
    void operator()(std::byte* memory) const;
  };
  using AlignedMemory = std::unique_ptr<std::byte[], AlignedDelete>;

  // What one thread reads with.
  struct Reader {
    std::unique_ptr<ExampleReader> examples;
    ExampleSteps steps;
  };

  struct Phase {
    PhaseData data;
    EpochOrder order;
    ArrayMatch match;
    // As many as were needed at once.
    std::vector<Reader> readers;
  };

  // One array of a batch.
  struct Column {
    DataType type = DataType::kFloat32;
    // Elements per example.
    int64_t row_size = 0;
    // See ModelArray::classes.
    ClassIds classes = {};
  };

  BatchPipeline(const PipelineOptions& options, LeaseSource lease_source,
                std::map<v1::Phase, Phase> phases, int64_t batch_size);
  static std::vector<Column> ColumnsOf(const std::vector<ModelArray>& arrays,
                                       DataType type);
  static AlignedMemory Allocate(int64_t size_bytes);
  absl::Status AllocateBatches(int64_t batch_size, int64_t buffers);
  // The buffer of the i-th batch since the start.
  PreparedBatch& BufferOf(int64_t i) { return batches_[i % batches_.size()]; }
  static absl::StatusOr<Reader> MakeReader(const PhaseData& data,
                                           const ReadFence& fence);

  // These run on the prefetch thread.
  void Run();
  absl::Status MakeBatches();
  absl::Status MakeBatchesOf(const v1::Lease& lease);
  // While fewer than `prefetch` batches are ahead of the trainer's.
  absl::StatusOr<PreparedBatch*> AwaitBuffer(int prefetch);
  void Publish();
  absl::Status Fill(Phase& phase, PreparedBatch& batch);
  bool TakeTrainerWaited();

  // These run on the threads of readers.
  // Example `index`, or the one that stands in for it; sets `index` to that.
  absl::StatusOr<const Example*> Read(const Phase& phase, Reader& reader,
                                      int64_t& index);
  absl::Status ReadRow(const Phase& phase, Reader& reader, int64_t row,
                       PreparedBatch& batch);
  template <typename T>
  absl::Status FillRow(const Example& example, const Phase& phase, int64_t row,
                       PreparedBatch& batch) const;
  template <typename T>
  absl::Status FillLabels(const Example& example, const Phase& phase,
                          int64_t row, PreparedBatch& batch) const;
  // Converts the values of an example into row `row` of `out`.
  template <typename T>
  static absl::Status Convert(const Elements& values, T scale,
                              const Column& column, int64_t row,
                              std::byte* out);

  const DataType type_;
  const std::vector<Column> features_;
  const std::vector<Column> labels_;
  const std::vector<Column> weights_;
  const LeaseSource lease_source_;
  const ReadFence fence_;
  TraceLane* const lane_;

  // Used by the prefetch thread only.
  std::map<v1::Phase, Phase> phases_;
  ReaderTuner tuner_;
  // Used by readers, too.
  SkippedExamples skipped_;
  ReaderPool pool_;

  // Of each row of the batch that is being read.
  std::vector<EpochOrder::Place> places_;
  std::atomic<bool> is_cancelled_ = false;

  // Those ahead, plus the one that the trainer uses. The prefetch thread owns a
  // batch until it is ready, then the trainer until it is released.
  AlignedMemory memory_;
  std::vector<PreparedBatch> batches_;

  mutable Mutex mutex_;
  CondVar changed_;
  int64_t made_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t released_ ABSL_GUARDED_BY(mutex_) = 0;
  // Whether Next has waited since TakeTrainerWaited.
  bool trainer_waited_ ABSL_GUARDED_BY(mutex_) = false;
  // The prefetch thread has stopped because of `status_`.
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_BATCH_PIPELINE_H_
