#include "worker/strategy/all_reduce.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/strategy/typed_values.h"

namespace paceline {
namespace {

// Waits wake up at this interval; the deadline is that of the transport.
constexpr absl::Duration kWaitSlice = absl::Seconds(1);

}  // namespace

AllReduceStrategy::AllReduceStrategy(AllReduceOptions options,
                                     Transport& transport,
                                     const ShardPlan& plan,
                                     LocalVariables& variables,
                                     ModelState& state, Stream& stream)
    : options_(std::move(options)),
      layout_(plan.layout()),
      variables_(variables),
      state_(state),
      stream_(stream),
      collectives_(transport),
      clipper_(options_.clipping, plan, state),
      waiting_(absl::StrCat("the all-reduce of ", transport.world_size(),
                            " replicas")),
      lane_(LaneOf(options_.trace)),
      reduce_lane_(options_.trace == nullptr
                       ? nullptr
                       : &options_.trace->AddLane(absl::StrCat(
                             "all-reduce of ", options_.trace->name()))),
      is_ready_(plan.layout().updated_buckets().size()),
      reducer_([this] { Run(); }) {}

AllReduceStrategy::~AllReduceStrategy() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  reducer_.join();
}

// The variables are always current: only this replica's own updates change
// them.
absl::Status AllReduceStrategy::PullVariables() {
  return UploadAll(layout_, state_, stream_);
}

absl::Status AllReduceStrategy::BeginLease(
    std::optional<double> learning_rate) {
  learning_rate_ = learning_rate;
  return absl::OkStatus();
}

absl::Status AllReduceStrategy::GradientsReady(int bucket) {
  is_ready_[bucket] = true;
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(status_);
  // EndStep reduces the last bucket.
  while (next_bucket_ + 1 < is_ready_.size() && is_ready_[next_bucket_]) {
    queue_.push_back(static_cast<int>(next_bucket_++));
    ++pending_;
    changed_.NotifyAll();
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> AllReduceStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  options_.on_waiting(waiting_);
  const size_t count = is_ready_.size();
  CHECK(std::find(is_ready_.begin(), is_ready_.end(), false) == is_ready_.end())
      << "gradients are missing";
  is_ready_.assign(count, false);
  next_bucket_ = 0;
  {
    const ScopedSpan span(lane_, "wait for the all-reduce");
    RETURN_IF_ERROR(AwaitReducer());
    if (count > 0) RETURN_IF_ERROR(Reduce(static_cast<int>(count - 1)));
  }
  options_.on_waiting("");
  Update();
  const ScopedSpan span(lane_, "copy the variables");
  RETURN_IF_ERROR(UploadUpdated(layout_, state_, stream_));
  return variables_.iterations();
}

void AllReduceStrategy::Update() {
  const ScopedSpan span(lane_, "update");
  const size_t count = is_ready_.size();
  for (size_t bucket = 0; bucket < count; ++bucket) {
    variables_.Accumulate(static_cast<int>(bucket), 0,
                          layout_.buckets()[bucket].count, state_);
  }
  if (clipper_.is_active()) clipper_.ClipAll();
  for (size_t bucket = 0; bucket < count; ++bucket) {
    variables_.Apply(static_cast<int>(bucket), 0,
                     layout_.buckets()[bucket].count, learning_rate_, state_);
  }
  variables_.EndUpdate();
}

absl::Status AllReduceStrategy::AwaitReducer() {
  MutexLock lock(mutex_);
  while (pending_ > 0 && status_.ok()) {
    changed_.WaitFor(mutex_, kWaitSlice);
  }
  return status_;
}

void AllReduceStrategy::Run() {
  while (true) {
    int bucket = 0;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) {
        changed_.WaitFor(mutex_, kWaitSlice);
      }
      if (stopping_) return;
      bucket = queue_.front();
      queue_.pop_front();
    }
    const absl::Status status = Reduce(bucket);
    MutexLock lock(mutex_);
    status_.Update(status);
    --pending_;
    changed_.NotifyAll();
    if (!status.ok()) return;
  }
}

absl::Status AllReduceStrategy::Reduce(int bucket) {
  const ScopedSpan span(reduce_lane_, "all-reduce bucket", bucket);
  const absl::Span<std::byte> gradients = state_.host_gradients(bucket);
  // Statistics are not rounded; otherwise rounding errors would accumulate in
  // them.
  const WireType wire = layout_.buckets()[bucket].is_trained()
                            ? options_.wire
                            : WireType::kNative;
  return state_.type() == DataType::kFloat64
             ? collectives_.AllReduce(As<double>(gradients))
             : collectives_.AllReduce(As<float>(gradients), wire);
}

}  // namespace paceline
