#include "worker/strategy/parameter_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Between two attempts to reach a shard.
constexpr absl::Duration kRetryPause = absl::Milliseconds(50);
// How long a server may be unavailable where calls have no deadline by which it
// must answer. With the time in which gRPC notices, less than a job's failure
// may take.
constexpr absl::Duration kUnavailable = absl::Seconds(3);
// A call that ends later than this had a connection.
constexpr absl::Duration kConnectAttempt = absl::Seconds(2);

}  // namespace

ParameterServerStrategy::ParameterServerStrategy(ParameterServerOptions options,
                                                 const ShardPlan& plan,
                                                 ModelState& state,
                                                 Stream& stream)
    : options_(std::move(options)),
      plan_(plan),
      state_(state),
      stream_(stream),
      calls_(plan.shard_count()),
      clipper_(options_.clipping, plan, state) {
  CHECK_EQ(options_.servers.size(), static_cast<size_t>(plan.shard_count()));
  const v1::DataType type = state.type() == DataType::kFloat64
                                ? v1::DATA_TYPE_FLOAT64
                                : v1::DATA_TYPE_FLOAT32;
  std::vector<std::string> descriptions;
  for (int index = 0; index < plan.shard_count(); ++index) {
    if (plan.blocks(index).empty()) continue;
    const v1::Member& server = options_.servers[index];
    Shard& shard = shards_.emplace_back();
    shard.index = index;
    PsClientOptions client;
    client.fail_fast = waits_for_others();
    client.use_shared_memory = options_.use_shared_memory;
    shard.client = std::make_unique<PsClient>(absl::StrCat("ps-", index),
                                              server.address(), client);
    shard.pull_request.set_ps_incarnation(server.incarnation());
    shard.push_request.set_ps_incarnation(server.incarnation());
    *shard.push_request.mutable_worker() = options_.worker;
    shard.push_request.set_pull(true);
    shard.apply_request.set_ps_incarnation(server.incarnation());
    for (const Block& block : plan.blocks(index)) {
      const auto part = [&](absl::Span<std::byte> bucket) {
        return bucket.subspan(block.bucket_offset * SizeOf(state.type()),
                              block.count * SizeOf(state.type()));
      };
      shard.gradients.push_back({static_cast<uint32_t>(block.index), type, 0,
                                 part(state.host_gradients(block.bucket))});
      shard.variables.push_back({part(state.host_variables(block.bucket))});
    }
    descriptions.push_back(shard.client->description());
  }
  const std::string callees = absl::StrJoin(descriptions, ", ");
  waiting_for_push_ = absl::StrCat("Push to ", callees);
  waiting_for_pull_ = absl::StrCat("Pull to ", callees);
  waiting_for_apply_ = absl::StrCat("Apply to ", callees);
}

ParameterServerStrategy::~ParameterServerStrategy() = default;

absl::Status ParameterServerStrategy::PullVariables() {
  for (Shard& shard : shards_) shard.pull_request.clear_joins();
  return Pull();
}

absl::Status ParameterServerStrategy::BeginLease() {
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) return absl::OkStatus();
  for (Shard& shard : shards_) {
    *shard.pull_request.mutable_joins() = options_.worker;
    shard.pull_request.set_sequence(sequence_);
  }
  RETURN_IF_ERROR(Pull());
  for (const Shard& shard : shards_) {
    clock_ = std::max(clock_, shard.pull_response.clock());
  }
  return absl::OkStatus();
}

absl::Status ParameterServerStrategy::Pull() {
  RETURN_IF_ERROR(
      CallAll(waiting_for_pull_,
              [](Shard& shard, absl::Duration timeout, CallDone done) {
                shard.client->Pull(shard.pull_request, &shard.pull_response,
                                   absl::MakeSpan(shard.variables), timeout,
                                   std::move(done));
              }));
  RETURN_IF_ERROR(TakeVariables());
  return UploadAll(plan_, state_, stream_);
}

// They leave together, from where they are.
absl::Status ParameterServerStrategy::GradientsReady(int /*bucket*/) {
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParameterServerStrategy::EndStep(
    const v1::Progress& progress, bool ends_lease) {
  if (clips_own_gradients()) clipper_.ClipAll();
  RETURN_IF_ERROR(Push(progress, ends_lease));
  uint64_t step = 0;
  for (const Shard& shard : shards_) {
    step = std::max(step, shard.push_response.step());
  }
  if (!shards_.front().push_response.squared_norms().empty()) {
    RETURN_IF_ERROR(Apply());
  }
  RETURN_IF_ERROR(TakeVariables());
  RETURN_IF_ERROR(UploadAll(plan_, state_, stream_));
  return static_cast<int64_t>(step);
}

absl::Status ParameterServerStrategy::Push(const v1::Progress& progress,
                                           bool ends_lease) {
  ++sequence_;
  ++clock_;
  for (Shard& shard : shards_) {
    *shard.push_request.mutable_progress() = progress;
    shard.push_request.mutable_progress()->set_sequence(sequence_);
    if (options_.consistency != v1::CONSISTENCY_BOUNDED) continue;
    shard.push_request.mutable_pace()->set_clock(clock_);
    shard.push_request.mutable_pace()->set_pauses(ends_lease);
  }
  return CallAll(waiting_for_push_, [](Shard& shard, absl::Duration timeout,
                                       CallDone done) {
    shard.client->Push(shard.push_request, shard.gradients,
                       &shard.push_response, absl::MakeSpan(shard.variables),
                       timeout, std::move(done));
  });
}

absl::Status ParameterServerStrategy::Apply() {
  // In the order of shards, so all workers have the same sums to the bit.
  const int count = shards_.front().push_response.squared_norms_size();
  std::vector<double> norms(count);
  for (const Shard& shard : shards_) {
    const auto& part = shard.push_response.squared_norms();
    if (part.size() != count) {
      return absl::InternalError(
          absl::StrCat(shard.client->description(), " sent squared norms of ",
                       part.size(), " variables, others of ", count));
    }
    for (int variable = 0; variable < count; ++variable) {
      norms[variable] += part[variable];
    }
  }
  for (Shard& shard : shards_) {
    shard.apply_request.set_step(shard.push_response.step());
    shard.apply_request.mutable_squared_norms()->Assign(norms.begin(),
                                                        norms.end());
  }
  return CallAll(waiting_for_apply_, [](Shard& shard, absl::Duration timeout,
                                        CallDone done) {
    shard.client->Apply(shard.apply_request, &shard.apply_response,
                        absl::MakeSpan(shard.variables), timeout,
                        std::move(done));
  });
}

template <typename Start>
absl::Status ParameterServerStrategy::CallAll(const std::string& what,
                                              Start start) {
  const absl::Time begin = MonotonicNow();
  options_.on_waiting(what);
  const auto start_call = [&](Shard& shard) {
    shard.call_began = MonotonicNow();
    // Whoever waits for other workers relies on the leader, which tells a step
    // that takes long from one that is stuck.
    const absl::Duration timeout =
        waits_for_others()
            ? limits::kCollectiveTimeout
            : std::max(begin + options_.timeout - shard.call_began,
                       kRetryPause);
    start(shard, timeout, calls_.Open(shard.index));
  };
  for (Shard& shard : shards_) {
    shard.unavailable_since = absl::InfiniteFuture();
    start_call(shard);
  }
  absl::Status failure;
  // Each call by itself: the others may wait for workers that wait for it.
  for (int ended = calls_.WaitForOne(); ended >= 0;
       ended = calls_.WaitForOne()) {
    const absl::Status& status = calls_.status(ended);
    if (status.ok() || !failure.ok()) continue;
    Shard& shard = *std::find_if(
        shards_.begin(), shards_.end(),
        [ended](const Shard& each) { return each.index == ended; });
    if (absl::IsUnavailable(status) && MayCallAgain(shard, begin)) {
      absl::SleepFor(kRetryPause);
      start_call(shard);
      continue;
    }
    failure = status;
    for (Shard& each : shards_) each.client->Cancel();
  }
  if (failure.ok()) options_.on_waiting("");
  return failure;
}

bool ParameterServerStrategy::MayCallAgain(Shard& shard,
                                           absl::Time begin) const {
  const absl::Time now = MonotonicNow();
  if (!waits_for_others()) return now < begin + options_.timeout;
  const bool was_open = now - shard.call_began > kConnectAttempt;
  if (was_open || shard.unavailable_since == absl::InfiniteFuture()) {
    shard.unavailable_since = now;
  }
  return now - shard.unavailable_since < kUnavailable;
}

absl::Status ParameterServerStrategy::TakeVariables() {
  for (Shard& shard : shards_) {
    for (size_t block = 0; block < shard.variables.size(); ++block) {
      const DensePlace& variables = shard.variables[block];
      if (!variables.is_filled) {
        return absl::InternalError(
            absl::StrCat(shard.client->description(), " did not send block ",
                         block, " of ", shard.variables.size()));
      }
      shard.gradients[block].version = variables.version;
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
