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
#include "common/data_source/convert.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// A cache line, and the widest vector register.
constexpr int64_t kAlignment = 64;

// The pace at which the prefetch thread looks up while all buffers are full;
// any change wakes it earlier.
constexpr absl::Duration kLookUp = absl::Seconds(1);

int64_t RoundUp(int64_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

absl::Status CheckSameShapes(const DataSource& a, const DataSource& b) {
  if (a.feature_shape() == b.feature_shape() &&
      a.label_shape() == b.label_shape()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has examples of shapes %s and %s, but %s of %s and %s", a.name(),
      ShapeToString(a.feature_shape()), ShapeToString(a.label_shape()),
      b.name(), ShapeToString(b.feature_shape()),
      ShapeToString(b.label_shape())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchPipeline>> BatchPipeline::Create(
    const PipelineOptions& options, LeaseSource lease_source) {
  CHECK(!options.phases.empty());
  CHECK(options.type == DataType::kFloat32 ||
        options.type == DataType::kFloat64);
  const DataSource& first = *options.phases.begin()->second.source;
  int64_t batch_size = 0;
  for (const auto& [phase, data] : options.phases) {
    CHECK_GE(data.step_size, 1);
    // No slice is larger by more than one than another.
    batch_size = std::max(batch_size,
                          (data.step_size + data.sharers - 1) / data.sharers);
    CHECK_LE(data.order.first + data.order.count, data.source->example_count());
    RETURN_IF_ERROR(CheckSameShapes(first, *data.source));
  }
  const int64_t feature_size = NumElements(first.feature_shape());
  const int64_t label_size =
      options.class_count > 0 ? 1 : NumElements(first.label_shape());
  if (std::max(feature_size, label_size) > limits::kMaxElements / batch_size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a batch of %d examples has more than the limit of %d elements",
        first.name(), batch_size, limits::kMaxElements));
  }
  return absl::WrapUnique(new BatchPipeline(
      options, std::move(lease_source), batch_size, feature_size, label_size));
}

BatchPipeline::BatchPipeline(const PipelineOptions& options,
                             LeaseSource lease_source, int64_t batch_size,
                             int64_t feature_size, int64_t label_size)
    : type_(options.type),
      batch_size_(batch_size),
      class_count_(options.class_count),
      feature_size_(feature_size),
      label_size_(label_size),
      lease_source_(std::move(lease_source)) {
  for (const auto& [phase, data] : options.phases) {
    phases_.emplace(phase, Phase{data, EpochOrder(data.order)});
  }
  const int64_t element_size = static_cast<int64_t>(SizeOf(type_));
  const int64_t feature_bytes =
      RoundUp(batch_size_ * feature_size_ * element_size);
  const int64_t label_bytes = RoundUp(batch_size_ * label_size_ * element_size);
  memory_ = Allocate(kBufferCount * (feature_bytes + label_bytes));
  std::byte* next = memory_.get();
  for (PreparedBatch& batch : batches_) {
    batch.features = next;
    batch.labels = next + feature_bytes;
    next += feature_bytes + label_bytes;
  }
  thread_ = std::thread([this] { Run(); });
}

BatchPipeline::~BatchPipeline() {
  Cancel();
  thread_.join();
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
    if (taken_ < made_) return &batches_[taken_++ % kBufferCount];
    const absl::Duration left = deadline - MonotonicNow();
    if (finished_ || left <= absl::ZeroDuration()) return nullptr;
    changed_.WaitFor(mutex_, left);
  }
}

void BatchPipeline::Release(const PreparedBatch* batch) {
  MutexLock lock(mutex_);
  CHECK_LT(released_, taken_);
  CHECK_EQ(batch, &batches_[released_ % kBufferCount])
      << "batches are released in the order in which they came";
  ++released_;
  changed_.NotifyAll();
}

bool BatchPipeline::has_ended() const {
  MutexLock lock(mutex_);
  return finished_ && status_.ok() && taken_ == made_;
}

void BatchPipeline::Cancel() {
  MutexLock lock(mutex_);
  if (status_.ok()) {
    status_ = absl::CancelledError("the batch pipeline was cancelled");
  }
  changed_.NotifyAll();
}

void BatchPipeline::Run() {
  const absl::Status status = MakeBatches();
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
  int64_t done = 0;
  for (int64_t at = begin; at < end; at += phase.data.step_size) {
    ASSIGN_OR_RETURN(PreparedBatch * batch, AwaitBuffer());
    batch->lease = lease;
    batch->step_count = std::min(phase.data.step_size, end - at);
    batch->begin = at + phase.data.SliceBegin(batch->step_count);
    batch->count = phase.data.SliceSize(batch->step_count);
    done += batch->count;
    batch->done_of_lease = done;
    batch->ends_lease = at + batch->step_count == end;
    RETURN_IF_ERROR(type_ == DataType::kFloat32 ? Fill<float>(phase, *batch)
                                                : Fill<double>(phase, *batch));
    Publish();
  }
  return absl::OkStatus();
}

absl::StatusOr<PreparedBatch*> BatchPipeline::AwaitBuffer() {
  MutexLock lock(mutex_);
  while (status_.ok() && made_ - released_ == kBufferCount) {
    changed_.WaitFor(mutex_, kLookUp);
  }
  RETURN_IF_ERROR(status_);
  return &batches_[made_ % kBufferCount];
}

void BatchPipeline::Publish() {
  MutexLock lock(mutex_);
  ++made_;
  changed_.NotifyAll();
}

template <typename T>
absl::Status BatchPipeline::Fill(Phase& phase, PreparedBatch& batch) {
  const DataSource& source = *phase.data.source;
  for (int64_t row = 0; row < batch.count; ++row) {
    const int64_t index =
        phase.order.ExampleAt(batch.lease.epoch(), batch.begin + row);
    const absl::StatusOr<Example> example = source.Read(index, scratch_);
    const absl::Status status =
        example.ok() ? FillExample<T>(*example, phase.data.scale, row, batch)
                     : example.status();
    if (!status.ok()) {
      return Annotate(status, absl::StrCat(source.name(), ": example ", index));
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status BatchPipeline::FillExample(const Example& example, double scale,
                                        int64_t row,
                                        PreparedBatch& batch) const {
  CHECK_EQ(example.features.count, feature_size_);
  CHECK_EQ(example.labels.count, label_size_);
  ConvertScaled(example.features, static_cast<T>(scale),
                reinterpret_cast<T*>(batch.features) + row * feature_size_);
  if (class_count_ > 0) {
    return ConvertToClassIds(example.labels, class_count_,
                             reinterpret_cast<int32_t*>(batch.labels) + row);
  }
  ConvertScaled(example.labels, T{1},
                reinterpret_cast<T*>(batch.labels) + row * label_size_);
  return absl::OkStatus();
}

}  // namespace paceline
