#include "worker/strategy/central_storage.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/strategy/typed_values.h"

namespace paceline {
namespace {

// The trained variables that a replica updates whole: variables are assigned by
// descending size, each to the replica with the fewest elements.
std::vector<Part> VariablesOf(const ShardPlan& plan, int rank,
                              int replica_count) {
  std::vector<Part> variables;
  for (const Part& part : plan.parts()) {
    if (plan.is_trained(part)) variables.push_back(part);
  }
  std::stable_sort(
      variables.begin(), variables.end(),
      [](const Part& a, const Part& b) { return a.count > b.count; });
  std::vector<int64_t> loads(replica_count, 0);
  std::vector<Part> own;
  for (const Part& variable : variables) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += variable.count;
    if (least - loads.begin() == rank) own.push_back(variable);
  }
  return own;
}

// In the buckets of statistics, and unless the optimizer updates whole
// variables in those of trained variables, each replica updates one segment.
std::vector<BucketRange> RangesOf(const ShardPlan& plan, bool by_variable,
                                  int rank, int replica_count) {
  const BucketLayout& layout = plan.layout();
  std::vector<BucketRange> ranges;
  for (size_t b = 0; b < layout.updated_buckets().size(); ++b) {
    const Bucket& bucket = layout.buckets()[b];
    if (by_variable && bucket.is_trained()) continue;
    const Segment own = SegmentOf(bucket.count, rank, replica_count);
    ranges.push_back({static_cast<int>(b), own.begin, own.size});
  }
  if (!by_variable) return ranges;
  for (const Part& part : VariablesOf(plan, rank, replica_count)) {
    ranges.push_back({part.bucket, part.bucket_offset, part.count});
  }
  return ranges;
}

}  // namespace

CentralStorageStrategy::CentralStorageStrategy(
    std::function<void(const std::string&)> on_waiting,
    const Clipping& clipping, Transport& transport, const ShardPlan& plan,
    LocalVariables& central, ModelState& state, Stream& stream, TraceLane* lane)
    : on_waiting_(std::move(on_waiting)),
      layout_(plan.layout()),
      central_(central),
      state_(state),
      stream_(stream),
      collectives_(transport),
      clipper_(clipping, plan, state),
      own_(RangesOf(plan, central.updates_by_variable(), transport.rank(),
                    transport.world_size())),
      waiting_(absl::StrCat("the gradients of ", transport.world_size(),
                            " replicas")),
      lane_(lane) {}

absl::Status CentralStorageStrategy::PullVariables() {
  return Pull(layout_.buckets().size());
}

absl::Status CentralStorageStrategy::Pull(size_t bucket_count) {
  for (size_t b = 0; b < bucket_count; ++b) {
    const int bucket = static_cast<int>(b);
    const absl::Span<const std::byte> central = central_.memory(bucket, -1);
    const absl::Span<std::byte> own = state_.host_variables(bucket);
    if (own.data() != central.data()) {
      std::memcpy(own.data(), central.data(), central.size());
    }
  }
  return UploadBuckets(bucket_count, state_, stream_);
}

absl::Status CentralStorageStrategy::BeginLease(
    std::optional<double> learning_rate) {
  learning_rate_ = learning_rate;
  return absl::OkStatus();
}

// Nothing to do: EndStep sums the gradients in place.
absl::Status CentralStorageStrategy::GradientsReady(int /*bucket*/) {
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CentralStorageStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  on_waiting_(waiting_);
  const int bucket_count = static_cast<int>(layout_.updated_buckets().size());
  for (int bucket = 0; bucket < bucket_count; ++bucket) {
    const ScopedSpan span(lane_, "sum bucket", bucket);
    RETURN_IF_ERROR(Reduce(bucket));
  }
  RETURN_IF_ERROR(Update());
  const int64_t step = central_.iterations() + 1;
  // Wait until all parts are updated, and copy them only then. The next update
  // cannot overtake a slow copy: a replica finishes the reduction of its part
  // only after all others have taken part in it.
  {
    const ScopedSpan span(lane_, "wait for the other replicas");
    RETURN_IF_ERROR(collectives_.Barrier());
  }
  on_waiting_("");
  if (collectives_.rank() == 0) central_.EndUpdate();
  const ScopedSpan span(lane_, "copy the variables");
  RETURN_IF_ERROR(Pull(layout_.updated_buckets().size()));
  return step;
}

absl::Status CentralStorageStrategy::Update() {
  const ScopedSpan span(lane_, "update");
  for (const BucketRange& own : own_) {
    central_.Accumulate(own.bucket, own.begin, own.count, state_);
  }
  if (clipper_.is_active()) RETURN_IF_ERROR(Clip());
  for (const BucketRange& own : own_) {
    central_.Apply(own.bucket, own.begin, own.count, learning_rate_, state_);
  }
  return absl::OkStatus();
}

absl::Status CentralStorageStrategy::Reduce(int bucket) {
  const absl::Span<std::byte> bytes = state_.host_gradients(bucket);
  return state_.type() == DataType::kFloat64 ? ReduceTyped(As<double>(bytes))
                                             : ReduceTyped(As<float>(bytes));
}

template <typename T>
absl::Status CentralStorageStrategy::ReduceTyped(absl::Span<T> gradients) {
  return central_.updates_by_variable() ? collectives_.AllReduce(gradients)
                                        : collectives_.ReduceScatter(gradients);
}

absl::Status CentralStorageStrategy::Clip() {
  clipper_.BeginNorms();
  if (clipper_.needs_norms()) {
    for (const BucketRange& own : own_) {
      clipper_.AddNorms(own.bucket, own.begin, own.count);
    }
    RETURN_IF_ERROR(collectives_.AllReduce(clipper_.squared_norms()));
  }
  clipper_.EndNorms();
  for (const BucketRange& own : own_) {
    clipper_.Clip(own.bucket, own.begin, own.count);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Strategy>> MakeCentralStorage(
    const StrategyParts& parts) {
  CHECK(parts.state.device_updates() == nullptr);
  RETURN_IF_ERROR(Collectives(*parts.transport).Barrier());
  return std::make_unique<CentralStorageStrategy>(
      parts.on_waiting, parts.optimizer.clipping, *parts.transport, parts.plan,
      *parts.variables, parts.state, parts.stream, LaneOf(parts.trace));
}

}  // namespace paceline
