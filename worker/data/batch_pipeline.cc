#include "worker/data/batch_pipeline.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/base/usable_memory.h"
#include "common/data_source/convert.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The size of a cache line and of the widest vector register, in bytes.
constexpr int64_t kAlignment = 64;

// Longest sleep of the prefetch thread while all buffers are full; any change
// wakes it earlier.
constexpr absl::Duration kLookUp = absl::Seconds(1);

// So many examples in a row that cannot be read end the job: not one of them is
// corrupt, but a disk is gone, say.
constexpr int64_t kMostSkippedInARow = 100;

int64_t RoundUp(int64_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Elements of one example in all these arrays.
int64_t ElementsOf(const std::vector<ModelArray>& arrays) {
  int64_t elements = 0;
  for (const ModelArray& array : arrays) elements += NumElements(array.shape);
  return elements;
}

absl::Status Cancelled() {
  return absl::CancelledError("the batch pipeline was cancelled");
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchPipeline>> BatchPipeline::Create(
    const PipelineOptions& options, LeaseSource lease_source) {
  CHECK(!options.phases.empty());
  CHECK(options.type == DataType::kFloat32 ||
        options.type == DataType::kFloat64);
  int64_t batch_size = 0;
  int64_t prefetch = 1;
  std::map<v1::Phase, Phase> phases;
  for (const auto& [phase, data] : options.phases) {
    CHECK_GE(data.step_size, 1);
    CHECK_GE(data.prefetch, 1);
    prefetch = std::max<int64_t>(prefetch, data.prefetch);
    // The slices of a step differ in size by at most one example.
    batch_size =
        std::max(batch_size, (data.step_size + data.replica_count - 1) /
                                 data.replica_count);
    CHECK_LE(data.order.first + data.order.count, data.source->example_count());
    ASSIGN_OR_RETURN(Reader reader, MakeReader(data, options.fence));
    ASSIGN_OR_RETURN(
        ArrayMatch match,
        MatchArrays(data.source->name(), reader.steps.spec(), options.model));
    Phase& added =
        phases
            .emplace(phase,
                     Phase{data, EpochOrder(data.order), std::move(match), {}})
            .first->second;
    added.readers.push_back(std::move(reader));
  }
  int64_t elements =
      ElementsOf(options.model.inputs) + ElementsOf(options.model.outputs);
  if (options.model.has_sample_weights) {
    elements += std::ssize(options.model.outputs);
  }
  if (elements > limits::kMaxElements / batch_size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a batch of %d examples has more than the limit of %d elements",
        options.phases.begin()->second.source->name(), batch_size,
        limits::kMaxElements));
  }
  auto pipeline = absl::WrapUnique(new BatchPipeline(
      options, std::move(lease_source), std::move(phases), batch_size));
  RETURN_IF_ERROR(pipeline->AllocateBatches(batch_size, prefetch + 1));
  pipeline->thread_ = std::thread([&run = *pipeline] { run.Run(); });
  return pipeline;
}

BatchPipeline::BatchPipeline(const PipelineOptions& options,
                             LeaseSource lease_source,
                             std::map<v1::Phase, Phase> phases,
                             int64_t batch_size)
    : type_(options.type),
      features_(ColumnsOf(options.model.inputs, type_)),
      labels_(ColumnsOf(options.model.outputs, type_)),
      weights_(
          options.model.has_sample_weights ? options.model.outputs.size() : 0,
          {.type = type_, .row_size = 1}),
      lease_source_(std::move(lease_source)),
      fence_(options.fence),
      lane_(options.lane),
      phases_(std::move(phases)),
      tuner_(options.readers),
      places_(batch_size) {}

std::vector<BatchPipeline::Column> BatchPipeline::ColumnsOf(
    const std::vector<ModelArray>& arrays, DataType type) {
  std::vector<Column> columns;
  for (const ModelArray& array : arrays) {
    columns.push_back({array.classes.count > 0 ? DataType::kInt32 : type,
                       NumElements(array.shape), array.classes});
  }
  return columns;
}

absl::StatusOr<BatchPipeline::Reader> BatchPipeline::MakeReader(
    const PhaseData& data, const ReadFence& fence) {
  ASSIGN_OR_RETURN(ExampleSteps steps,
                   ExampleSteps::Create(data.steps, data.source->spec()));
  ASSIGN_OR_RETURN(std::unique_ptr<ExampleReader> examples,
                   fence.Run([&] { return data.source->MakeReader(); }));
  return Reader{std::move(examples), std::move(steps)};
}

absl::Status BatchPipeline::AllocateBatches(int64_t batch_size,
                                            int64_t buffers) {
  const auto size_bytes = [batch_size](const Column& column) {
    return RoundUp(batch_size * column.row_size *
                   static_cast<int64_t>(SizeOf(column.type)));
  };
  int64_t batch_bytes = 0;
  for (const Column& column : features_) batch_bytes += size_bytes(column);
  for (const Column& column : labels_) batch_bytes += size_bytes(column);
  for (const Column& column : weights_) batch_bytes += size_bytes(column);
  // Unknown where /proc cannot be read.
  const absl::StatusOr<uint64_t> usable = UsableMemory();
  if (usable.ok() && buffers > static_cast<int64_t>(*usable) /
                                   std::max<int64_t>(batch_bytes, 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "prefetch: ", buffers - 1, ": these and the batch in use have ",
        batch_bytes, " bytes each; expected that they fit into the ", *usable,
        " bytes that this task may use"));
  }
  memory_ = Allocate(buffers * batch_bytes);
  batches_.resize(buffers);
  std::byte* next = memory_.get();
  const auto prepare = [&](const std::vector<Column>& columns,
                           std::vector<PreparedArray>& arrays) {
    for (const Column& column : columns) {
      arrays.push_back({column.type, next});
      next += size_bytes(column);
    }
  };
  for (PreparedBatch& batch : batches_) {
    prepare(features_, batch.features);
    prepare(labels_, batch.labels);
    prepare(weights_, batch.weights);
  }
  return absl::OkStatus();
}

BatchPipeline::~BatchPipeline() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

BatchPipeline::AlignedMemory BatchPipeline::Allocate(int64_t size_bytes) {
  return AlignedMemory(static_cast<std::byte*>(::operator new[](
      static_cast<size_t>(size_bytes), std::align_val_t{kAlignment})));
}

void BatchPipeline::AlignedDelete::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

absl::StatusOr<const PreparedBatch*> BatchPipeline::Next(
    absl::Duration timeout) {
  const absl::Time deadline = MonotonicNow() + timeout;
  MutexLock lock(mutex_);
  while (true) {
    RETURN_IF_ERROR(status_);
    if (taken_ < made_) return &BufferOf(taken_++);
    const absl::Duration left = deadline - MonotonicNow();
    if (finished_ || left <= absl::ZeroDuration()) return nullptr;
    trainer_waited_ = true;
    changed_.WaitFor(mutex_, left);
  }
}

void BatchPipeline::Release(const PreparedBatch* batch) {
  MutexLock lock(mutex_);
  CHECK_LT(released_, taken_);
  CHECK_EQ(batch, &BufferOf(released_))
      << "batches are released in the order in which they came";
  ++released_;
  changed_.NotifyAll();
}

bool BatchPipeline::has_ended() const {
  MutexLock lock(mutex_);
  return finished_ && status_.ok() && taken_ == made_;
}

void BatchPipeline::Cancel() {
  is_cancelled_ = true;
  MutexLock lock(mutex_);
  if (status_.ok()) {
    status_ = Cancelled();
  }
  changed_.NotifyAll();
}

void BatchPipeline::Run() {
  const absl::Status status = MakeBatches();
  skipped_.EndEpoch();
  MutexLock lock(mutex_);
  status_.Update(status);
  finished_ = true;
  changed_.NotifyAll();
}

absl::Status BatchPipeline::MakeBatches() {
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<v1::Lease> lease, lease_source_());
    if (!lease.has_value()) return absl::OkStatus();
    RETURN_IF_ERROR(MakeBatchesOf(*lease));
  }
}

absl::Status BatchPipeline::MakeBatchesOf(const v1::Lease& lease) {
  const auto found = phases_.find(lease.phase());
  if (found == phases_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("lease ", lease.id(), " is of ",
                     v1::Phase_Name(lease.phase()), ", which has no data"));
  }
  Phase& phase = found->second;
  const int64_t epoch_examples = phase.order.epoch_examples();
  const auto begin = static_cast<int64_t>(lease.begin());
  const auto end = static_cast<int64_t>(lease.end());
  if (begin < 0 || begin >= end || end > epoch_examples) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "lease %d covers [%d, %d), expected a range in an epoch of %d examples",
        lease.id(), begin, end, epoch_examples));
  }
  skipped_.BeginEpoch(lease.phase(), lease.epoch());
  // Until now the trainer may have waited for the lease.
  TakeTrainerWaited();
  int64_t done = 0;
  const int64_t skipped_before = skipped_.total();
  for (int64_t at = begin; at < end; at += phase.data.step_size) {
    ASSIGN_OR_RETURN(PreparedBatch * batch, AwaitBuffer(phase.data.prefetch));
    batch->lease = lease;
    batch->step_count = std::min(phase.data.step_size, end - at);
    batch->begin = at + phase.data.SliceBegin(batch->step_count);
    batch->count = phase.data.SliceSize(batch->step_count);
    done += batch->count;
    batch->done_of_lease = done;
    batch->ends_lease = at + batch->step_count == end;
    batch->epoch_step = at / phase.data.step_size;
    batch->epoch_steps =
        (epoch_examples + phase.data.step_size - 1) / phase.data.step_size;
    {
      const ScopedSpan span(lane_, "read a batch");
      RETURN_IF_ERROR(Fill(phase, *batch));
    }
    batch->skipped_of_lease = skipped_.total() - skipped_before;
    Publish();
  }
  return absl::OkStatus();
}

absl::StatusOr<PreparedBatch*> BatchPipeline::AwaitBuffer(int prefetch) {
  MutexLock lock(mutex_);
  while (status_.ok() && made_ - released_ > prefetch) {
    changed_.WaitFor(mutex_, kLookUp);
  }
  RETURN_IF_ERROR(status_);
  return &BufferOf(made_);
}

void BatchPipeline::Publish() {
  MutexLock lock(mutex_);
  ++made_;
  changed_.NotifyAll();
}

bool BatchPipeline::TakeTrainerWaited() {
  MutexLock lock(mutex_);
  return std::exchange(trainer_waited_, false);
}

absl::Status BatchPipeline::Fill(Phase& phase, PreparedBatch& batch) {
  for (int64_t row = 0; row < batch.count; ++row) {
    if (is_cancelled_) return Cancelled();
    const int64_t epoch = batch.lease.epoch();
    const int64_t position = batch.begin + row;
    places_[row] = phase.order.At(epoch, position);
    // Evaluations draw the same each time, so that they can be compared.
    if (batch.lease.phase() != v1::PHASE_TRAIN) places_[row].pass = 0;
  }
  const int readers = phase.data.is_stream ? 1 : tuner_.readers();
  while (std::ssize(phase.readers) < readers) {
    ASSIGN_OR_RETURN(Reader reader, MakeReader(phase.data, fence_));
    phase.readers.push_back(std::move(reader));
  }
  const absl::Time start = MonotonicNow();
  RETURN_IF_ERROR(pool_.Run(readers, batch.count, [&](int reader, int64_t row) {
    return ReadRow(phase, phase.readers[reader], row, batch);
  }));
  const absl::Duration duration = MonotonicNow() - start;
  if (!phase.data.is_stream) tuner_.OnBatch(duration, TakeTrainerWaited());
  return absl::OkStatus();
}

absl::StatusOr<const Example*> BatchPipeline::Read(const Phase& phase,
                                                   Reader& reader,
                                                   int64_t& index) {
  const int64_t first = phase.data.order.first;
  const int64_t count = phase.data.order.count;
  int64_t unreadable = 0;
  while (true) {
    absl::StatusOr<const Example*> example = reader.examples->Read(index);
    if (example.ok() || !phase.data.skips_errors ||
        !IsOfExample(example.status())) {
      return example;
    }
    if (++unreadable == std::min(kMostSkippedInARow, count)) {
      return Annotate(example.status(),
                      absl::StrCat(unreadable,
                                   " examples in a row cannot be "
                                   "read, the last"));
    }
    // Those behind it count where they are wanted themselves.
    if (unreadable == 1) {
      skipped_.Add(Annotate(
          example.status(),
          absl::StrCat(phase.data.source->name(), ": example ", index)));
    }
    index = first + (index - first + 1) % count;
  }
}

absl::Status BatchPipeline::ReadRow(const Phase& phase, Reader& reader,
                                    int64_t row, PreparedBatch& batch) {
  if (is_cancelled_) return Cancelled();
  const EpochOrder::Place& place = places_[row];
  int64_t index = place.example;
  absl::StatusOr<const Example*> example = Read(phase, reader, index);
  if (example.ok()) {
    example = reader.steps.Apply(**example, place.pass, index);
  }
  absl::Status status = example.status();
  if (example.ok()) {
    status = type_ == DataType::kFloat32
                 ? FillRow<float>(**example, phase, row, batch)
                 : FillRow<double>(**example, phase, row, batch);
  }
  if (status.ok()) return status;
  // An example that cannot be read has its place in the error.
  const std::string where =
      example.ok() ? phase.data.source->LocationOf(index) : "";
  return Annotate(status,
                  absl::StrCat(phase.data.source->name(), ": example ", index,
                               where.empty() ? "" : ", at ", where));
}

template <typename T>
absl::Status BatchPipeline::FillRow(const Example& example, const Phase& phase,
                                    int64_t row, PreparedBatch& batch) const {
  const auto scale = static_cast<T>(phase.data.scale);
  for (size_t i = 0; i < features_.size(); ++i) {
    RETURN_IF_ERROR(Convert(example.features[phase.match.inputs[i]], scale,
                            features_[i], row, batch.features[i].data));
  }
  RETURN_IF_ERROR(FillLabels<T>(example, phase, row, batch));
  for (size_t i = 0; i < weights_.size(); ++i) {
    const std::optional<size_t> weights = phase.match.weights[i];
    T& weight = reinterpret_cast<T*>(batch.weights[i].data)[row];
    weight = 1;
    if (weights) ConvertScaled(example.weights[*weights], T{1}, &weight);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BatchPipeline::FillLabels(const Example& example,
                                       const Phase& phase, int64_t row,
                                       PreparedBatch& batch) const {
  for (size_t i = 0; i < labels_.size(); ++i) {
    const size_t label = phase.match.outputs[i];
    const absl::Status status = Convert(example.labels[label], T{1}, labels_[i],
                                        row, batch.labels[i].data);
    if (status.ok()) continue;
    return Annotate(status, phase.data.source->spec().labels[label].origin);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BatchPipeline::Convert(const Elements& values, T scale,
                                    const Column& column, int64_t row,
                                    std::byte* out) {
  CHECK_EQ(values.count, column.row_size);
  if (column.classes.count > 0) {
    return ConvertToClassIds(
        values, column.classes,
        reinterpret_cast<int32_t*>(out) + row * column.row_size);
  }
  ConvertScaled(values, scale,
                reinterpret_cast<T*>(out) + row * column.row_size);
  return absl::OkStatus();
}

}  // namespace paceline
