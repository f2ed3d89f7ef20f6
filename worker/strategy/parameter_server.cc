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
#include "common/optimizer/moving_statistics.h"

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
    server.client = std::make_unique<PsClient>(index, member.address(),
                                               options_.caller, client);
    server.shard = index;
    descriptions.push_back(server.client->description());
  }
  AddChunks(&Server::updated);
  updated_chunk_count_ = chunks_.size();
  AddChunks(&Server::frozen);
  calls_ = std::make_unique<CallGroup>(static_cast<int>(chunks_.size()));
  const std::string callees = absl::StrJoin(descriptions, ", ");
  waiting_for_push_ = absl::StrCat("Push to ", callees);
  waiting_for_pull_ = absl::StrCat("Pull to ", callees);
  waiting_for_apply_ = absl::StrCat("Apply to ", callees);
}

void ParameterServerStrategy::AddChunks(Chunks chunks) {
  const bool are_frozen = chunks == &Server::frozen;
  for (Server& server : servers_) {
    (server.*chunks).begin = chunks_.size();
    uint32_t index = 0;
    for (const ShardPlan::Chunk& chunk : plan_.chunks(server.shard)) {
      if (chunk.is_frozen == are_frozen) AddChunk(chunk, index, server);
      ++index;
    }
    (server.*chunks).end = chunks_.size();
  }
}

void ParameterServerStrategy::AddChunk(const ShardPlan::Chunk& chunk,
                                       uint32_t index, Server& server) {
  const v1::DataType type = state_.type() == DataType::kFloat64
                                ? v1::DATA_TYPE_FLOAT64
                                : v1::DATA_TYPE_FLOAT32;
  const v1::Member& member = options_.servers[server.shard];
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
    calls.variables.push_back({part(state_.host_variables(block.bucket))});
    if (chunk.is_frozen) continue;
    calls.gradients.push_back({static_cast<uint32_t>(block.index), type, 0,
                               part(state_.host_gradients(block.bucket))});
  }
}

ParameterServerStrategy::~ParameterServerStrategy() = default;

absl::Status ParameterServerStrategy::PullVariables() {
  for (ChunkCalls& chunk : updated_chunks()) chunk.pull_request.clear_joins();
  RETURN_IF_ERROR(Pull(&Server::updated));
  if (has_frozen_) return UploadUpdated(plan_, state_, stream_);
  RETURN_IF_ERROR(Pull(&Server::frozen));
  has_frozen_ = true;
  return UploadAll(plan_, state_, stream_);
}

absl::Status ParameterServerStrategy::BeginLease() {
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) return absl::OkStatus();
  for (ChunkCalls& chunk : updated_chunks()) {
    *chunk.pull_request.mutable_joins() = options_.worker;
    chunk.pull_request.set_sequence(sequence_);
  }
  RETURN_IF_ERROR(Pull(&Server::updated));
  for (const ChunkCalls& chunk : updated_chunks()) {
    clock_ = std::max(clock_, chunk.pull_response.clock());
  }
  return UploadUpdated(plan_, state_, stream_);
}

absl::Status ParameterServerStrategy::Pull(Chunks chunks) {
  RETURN_IF_ERROR(CallAll(
      waiting_for_pull_, chunks,
      [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
        chunk.server->client->Pull(chunk.pull_request, &chunk.pull_response,
                                   absl::MakeSpan(chunk.variables), timeout,
                                   std::move(done));
      }));
  return CheckVariables(chunks);
}

// They leave together, from where they are.
absl::Status ParameterServerStrategy::GradientsReady(int /*bucket*/) {
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParameterServerStrategy::EndStep(
    const v1::Progress& progress, bool ends_lease) {
  if (clips_own_gradients()) clipper_.ClipAll();
  if (options_.consistency != v1::CONSISTENCY_SYNC) {
    if (state_.type() == DataType::kFloat64) {
      MakeStatisticsParts<double>();
    } else {
      MakeStatisticsParts<float>();
    }
  }
  RETURN_IF_ERROR(Push(progress, ends_lease));
  uint64_t step = 0;
  bool has_norms = false;
  for (const ChunkCalls& chunk : updated_chunks()) {
    step = std::max(step, chunk.push_response.step());
    has_norms |= !chunk.push_response.squared_norms().empty();
  }
  if (has_norms) RETURN_IF_ERROR(Apply());
  RETURN_IF_ERROR(CheckVariables(&Server::updated));
  RETURN_IF_ERROR(UploadUpdated(plan_, state_, stream_));
  return static_cast<int64_t>(step);
}

template <typename T>
void ParameterServerStrategy::MakeStatisticsParts() {
  for (const Part& part : plan_.parts()) {
    if (plan_.buckets()[part.bucket].update != VariableUpdate::kDifference) {
      continue;
    }
    const auto elements = [&part](absl::Span<std::byte> bucket) {
      return absl::MakeSpan(
          reinterpret_cast<T*>(bucket.data()) + part.bucket_offset,
          static_cast<size_t>(part.count));
    };
    DifferencesToParts<T>(part.momentum,
                          elements(state_.host_variables(part.bucket)),
                          elements(state_.host_gradients(part.bucket)));
  }
}

absl::Status ParameterServerStrategy::Push(const v1::Progress& progress,
                                           bool ends_lease) {
  ++sequence_;
  ++clock_;
  for (ChunkCalls& chunk : updated_chunks()) {
    *chunk.push_request.mutable_progress() = progress;
    chunk.push_request.mutable_progress()->set_sequence(sequence_);
    for (size_t block = 0; block < chunk.gradients.size(); ++block) {
      chunk.gradients[block].version = chunk.variables[block].version;
    }
    if (options_.consistency != v1::CONSISTENCY_BOUNDED) continue;
    chunk.push_request.mutable_pace()->set_clock(clock_);
    chunk.push_request.mutable_pace()->set_pauses(ends_lease);
  }
  RETURN_IF_ERROR(
      CallAll(waiting_for_push_, &Server::updated,
              [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
                chunk.server->client->Push(
                    chunk.push_request, chunk.gradients, &chunk.push_response,
                    absl::MakeSpan(chunk.variables), timeout, std::move(done));
              }));
  return CheckApplied();
}

absl::Status ParameterServerStrategy::CheckApplied() {
  for (const ChunkCalls& chunk : updated_chunks()) {
    const v1::PushResponse& response = chunk.push_response;
    if (response.applied() || chunk.attempts > 1) continue;
    // An answer with norms may be too long for shared memory; then PsClient has
    // repeated the push.
    if (!response.squared_norms().empty()) continue;
    const PsClient& client = *chunk.server->client;
    return client.Blamed(
        "Push",
        absl::InternalError(absl::StrCat(
            "Push to ", client.description(), ": push ", sequence_,
            " of chunk ", chunk.push_request.chunk(),
            " was answered as one that was applied before, though it was sent "
            "once: another process pushes as this worker")));
  }
  return absl::OkStatus();
}

absl::Status ParameterServerStrategy::Apply() {
  // In the order of shards, so all workers have the same sums to the bit.
  const int count = chunks_.front().push_response.squared_norms_size();
  std::vector<double> norms(count);
  for (const ChunkCalls& chunk : updated_chunks()) {
    const auto& part = chunk.push_response.squared_norms();
    if (part.size() != count) {
      const PsClient& client = *chunk.server->client;
      return client.Blamed("Push",
                           absl::InternalError(absl::StrCat(
                               client.description(), " sent squared norms of ",
                               part.size(), " variables, others of ", count)));
    }
    for (int variable = 0; variable < count; ++variable) {
      norms[variable] += part[variable];
    }
  }
  for (ChunkCalls& chunk : updated_chunks()) {
    chunk.apply_request.set_step(chunk.push_response.step());
    chunk.apply_request.mutable_squared_norms()->Assign(norms.begin(),
                                                        norms.end());
  }
  return CallAll(waiting_for_apply_, &Server::updated,
                 [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
                   chunk.server->client->Apply(chunk.apply_request,
                                               &chunk.apply_response,
                                               absl::MakeSpan(chunk.variables),
                                               timeout, std::move(done));
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
                                              Chunks chunks, Start start) {
  options_.on_waiting(what);
  const auto call = [&](ChunkCalls& chunk) {
    ++chunk.attempts;
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
    if (server.waiting.begin == server.waiting.end) return;
    ChunkCalls& chunk = chunks_[server.waiting.begin++];
    chunk.attempts = 0;
    chunk.first_began = MonotonicNow();
    chunk.unavailable_since = absl::InfiniteFuture();
    call(chunk);
  };
  for (Server& server : servers_) server.waiting = server.*chunks;
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

absl::Status ParameterServerStrategy::CheckVariables(Chunks chunks) const {
  for (const Server& server : servers_) {
    for (size_t c = (server.*chunks).begin; c < (server.*chunks).end; ++c) {
      const ChunkCalls& chunk = chunks_[c];
      for (size_t block = 0; block < chunk.variables.size(); ++block) {
        if (chunk.variables[block].is_filled) continue;
        return server.client->Blamed(
            "variables",
            absl::InternalError(absl::StrCat(
                server.client->description(), " did not send block ", block,
                " of ", chunk.variables.size(), " of chunk ",
                chunk.pull_request.chunk())));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Strategy>> MakeParameterServer(
    const StrategyParts& parts) {
  const auto& servers = parts.start.ps();
  if (servers.size() != parts.plan.shard_count()) {
    return absl::InternalError(absl::StrCat(
        "the leader names ", servers.size(),
        " parameter servers, where its job has ", parts.plan.shard_count()));
  }
  ParameterServerOptions options;
  options.worker = parts.worker;
  options.caller = parts.caller;
  options.servers.assign(servers.begin(), servers.end());
  options.timeout = absl::Seconds(parts.registration.ps_timeout().seconds());
  options.consistency = parts.registration.job().consistency();
  options.clipping = parts.optimizer.clipping;
  options.on_waiting = parts.on_waiting;
  return std::make_unique<ParameterServerStrategy>(
      std::move(options), parts.plan, parts.state, parts.stream);
}

}  // namespace paceline
