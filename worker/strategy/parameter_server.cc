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

// Between two attempts to reach a chunk.
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
      clipper_(options_.clipping, plan, state) {
  CHECK_EQ(options_.servers.size(), static_cast<size_t>(plan.shard_count()));
  servers_.reserve(plan.shard_count());
  std::vector<std::string> descriptions;
  for (int index = 0; index < plan.shard_count(); ++index) {
    if (plan.chunks(index).empty()) continue;
    const v1::Member& member = options_.servers[index];
    Server& server = servers_.emplace_back();
    PsClientOptions client;
    client.fail_fast = waits_for_others();
    client.use_shared_memory = options_.use_shared_memory;
    server.client = std::make_unique<PsClient>(absl::StrCat("ps-", index),
                                               member.address(), client);
    server.first_chunk = chunks_.size();
    for (const ShardPlan::Chunk& chunk : plan.chunks(index)) {
      AddChunk(chunk, member, server);
    }
    server.end_chunk = chunks_.size();
    descriptions.push_back(server.client->description());
  }
  calls_ = std::make_unique<CallGroup>(static_cast<int>(chunks_.size()));
  const std::string callees = absl::StrJoin(descriptions, ", ");
  waiting_for_push_ = absl::StrCat("Push to ", callees);
  waiting_for_pull_ = absl::StrCat("Pull to ", callees);
  waiting_for_apply_ = absl::StrCat("Apply to ", callees);
}

void ParameterServerStrategy::AddChunk(const ShardPlan::Chunk& chunk,
                                       const v1::Member& member,
                                       Server& server) {
  const v1::DataType type = state_.type() == DataType::kFloat64
                                ? v1::DATA_TYPE_FLOAT64
                                : v1::DATA_TYPE_FLOAT32;
  const auto index = static_cast<uint32_t>(chunks_.size() - server.first_chunk);
  ChunkCalls& calls = chunks_.emplace_back();
  calls.server = &server;
  calls.pull_request.set_ps_incarnation(member.incarnation());
  calls.pull_request.set_chunk(index);
  calls.push_request.set_ps_incarnation(member.incarnation());
  calls.push_request.set_chunk(index);
  *calls.push_request.mutable_worker() = options_.worker;
  calls.push_request.set_pull(true);
  calls.apply_request.set_ps_incarnation(member.incarnation());
  calls.apply_request.set_chunk(index);
  for (const Block& block : chunk.blocks) {
    const auto part = [&](absl::Span<std::byte> bucket) {
      return bucket.subspan(block.bucket_offset * SizeOf(state_.type()),
                            block.count * SizeOf(state_.type()));
    };
    calls.gradients.push_back({static_cast<uint32_t>(block.index), type, 0,
                               part(state_.host_gradients(block.bucket))});
    calls.variables.push_back({part(state_.host_variables(block.bucket))});
  }
}

ParameterServerStrategy::~ParameterServerStrategy() = default;

absl::Status ParameterServerStrategy::PullVariables() {
  for (ChunkCalls& chunk : chunks_) chunk.pull_request.clear_joins();
  return Pull();
}

absl::Status ParameterServerStrategy::BeginLease() {
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) return absl::OkStatus();
  for (ChunkCalls& chunk : chunks_) {
    *chunk.pull_request.mutable_joins() = options_.worker;
    chunk.pull_request.set_sequence(sequence_);
  }
  RETURN_IF_ERROR(Pull());
  for (const ChunkCalls& chunk : chunks_) {
    clock_ = std::max(clock_, chunk.pull_response.clock());
  }
  return absl::OkStatus();
}

absl::Status ParameterServerStrategy::Pull() {
  RETURN_IF_ERROR(CallAll(
      waiting_for_pull_,
      [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
        chunk.server->client->Pull(chunk.pull_request, &chunk.pull_response,
                                   absl::MakeSpan(chunk.variables), timeout,
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
  for (const ChunkCalls& chunk : chunks_) {
    step = std::max(step, chunk.push_response.step());
  }
  if (!chunks_.front().push_response.squared_norms().empty()) {
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
  for (ChunkCalls& chunk : chunks_) {
    *chunk.push_request.mutable_progress() = progress;
    chunk.push_request.mutable_progress()->set_sequence(sequence_);
    if (options_.consistency != v1::CONSISTENCY_BOUNDED) continue;
    chunk.push_request.mutable_pace()->set_clock(clock_);
    chunk.push_request.mutable_pace()->set_pauses(ends_lease);
  }
  return CallAll(waiting_for_push_, [](ChunkCalls& chunk,
                                       absl::Duration timeout, CallDone done) {
    chunk.server->client->Push(
        chunk.push_request, chunk.gradients, &chunk.push_response,
        absl::MakeSpan(chunk.variables), timeout, std::move(done));
  });
}

absl::Status ParameterServerStrategy::Apply() {
  // In the order of shards, so all workers have the same sums to the bit.
  const int count = chunks_.front().push_response.squared_norms_size();
  std::vector<double> norms(count);
  for (const ChunkCalls& chunk : chunks_) {
    const auto& part = chunk.push_response.squared_norms();
    if (part.size() != count) {
      return absl::InternalError(absl::StrCat(
          chunk.server->client->description(), " sent squared norms of ",
          part.size(), " variables, others of ", count));
    }
    for (int variable = 0; variable < count; ++variable) {
      norms[variable] += part[variable];
    }
  }
  for (ChunkCalls& chunk : chunks_) {
    chunk.apply_request.set_step(chunk.push_response.step());
    chunk.apply_request.mutable_squared_norms()->Assign(norms.begin(),
                                                        norms.end());
  }
  return CallAll(waiting_for_apply_, [](ChunkCalls& chunk,
                                        absl::Duration timeout, CallDone done) {
    chunk.server->client->Apply(chunk.apply_request, &chunk.apply_response,
                                absl::MakeSpan(chunk.variables), timeout,
                                std::move(done));
  });
}

// Under bounded staleness a call that is held must not keep back others, for
// which those it waits for may wait. Otherwise all workers go through the
// chunks in the same order, or are not held.
int ParameterServerStrategy::calls_per_server() const {
  return options_.consistency == v1::CONSISTENCY_BOUNDED
             ? static_cast<int>(chunks_.size())
             : limits::kCallsPerServer;
}

template <typename Start>
absl::Status ParameterServerStrategy::CallAll(const std::string& what,
                                              Start start) {
  options_.on_waiting(what);
  const auto call = [&](ChunkCalls& chunk) {
    chunk.began = MonotonicNow();
    // Whoever waits for other workers relies on the leader, which tells a step
    // that takes long from one that is stuck.
    const absl::Duration timeout =
        waits_for_others()
            ? limits::kCollectiveTimeout
            : std::max(chunk.first_began + options_.timeout - chunk.began,
                       kRetryPause);
    start(chunk, timeout,
          calls_->Open(static_cast<int>(&chunk - chunks_.data())));
  };
  const auto call_next = [&](Server& server) {
    if (server.next_chunk == server.end_chunk) return;
    ChunkCalls& chunk = chunks_[server.next_chunk++];
    chunk.first_began = MonotonicNow();
    chunk.unavailable_since = absl::InfiniteFuture();
    call(chunk);
  };
  for (Server& server : servers_) server.next_chunk = server.first_chunk;
  for (int i = 0; i < calls_per_server(); ++i) {
    for (Server& server : servers_) call_next(server);
  }
  absl::Status failure;
  // Each call by itself: the others may wait for workers that wait for it.
  for (int ended = calls_->WaitForOne(); ended >= 0;
       ended = calls_->WaitForOne()) {
    if (!failure.ok()) continue;
    const absl::Status& status = calls_->status(ended);
    ChunkCalls& chunk = chunks_[ended];
    if (status.ok()) {
      call_next(*chunk.server);
    } else if (absl::IsUnavailable(status) && MayCallAgain(chunk)) {
      absl::SleepFor(kRetryPause);
      call(chunk);
    } else {
      failure = status;
      for (const Server& server : servers_) server.client->Cancel();
    }
  }
  if (failure.ok()) options_.on_waiting("");
  return failure;
}

bool ParameterServerStrategy::MayCallAgain(ChunkCalls& chunk) const {
  const absl::Time now = MonotonicNow();
  if (!waits_for_others()) return now < chunk.first_began + options_.timeout;
  const bool was_open = now - chunk.began > kConnectAttempt;
  if (was_open || chunk.unavailable_since == absl::InfiniteFuture()) {
    chunk.unavailable_since = now;
  }
  return now - chunk.unavailable_since < kUnavailable;
}

absl::Status ParameterServerStrategy::TakeVariables() {
  for (ChunkCalls& chunk : chunks_) {
    for (size_t block = 0; block < chunk.variables.size(); ++block) {
      const DensePlace& variables = chunk.variables[block];
      if (!variables.is_filled) {
        return absl::InternalError(absl::StrCat(
            chunk.server->client->description(), " did not send block ", block,
            " of ", chunk.variables.size(), " of chunk ",
            chunk.pull_request.chunk()));
      }
      chunk.gradients[block].version = variables.version;
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
