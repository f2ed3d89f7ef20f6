#include "worker/strategy/parameter_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/optimizer/moving_statistics.h"

namespace paceline {

ParameterServerStrategy::ParameterServerStrategy(ParameterServerOptions options,
                                                 const ShardPlan& plan,
                                                 ModelState& state,
                                                 Stream& stream)
    : options_(std::move(options)),
      plan_(plan),
      state_(state),
      stream_(stream),
      lane_(LaneOf(options_.trace)),
      clipper_(options_.clipping, plan, state) {
  CHECK_EQ(options_.servers.size(), static_cast<size_t>(plan.shard_count()));
  CHECK(!options_.pipelines || !waits_for_others());
  servers_.reserve(plan.shard_count());
  std::vector<std::string> descriptions;
  ChunkStreamOptions stream_options;
  for (int index = 0; index < plan.shard_count(); ++index) {
    if (plan.chunks(index).empty()) continue;
    const v1::Member& member = options_.servers[index];
    ChunkServer& server = servers_.emplace_back();
    PsClientOptions client;
    client.fail_fast = waits_for_others();
    client.use_shared_memory = options_.use_shared_memory;
    server.client = std::make_unique<PsClient>(index, member.address(),
                                               options_.caller, client);
    server.shard = index;
    if (TraceLane* const lane =
            NewLane(options_.trace, absl::StrCat("calls to ps-", index))) {
      stream_options.lanes.push_back(lane);
    }
    descriptions.push_back(server.client->description());
  }
  AddChunks(&ChunkServer::updated);
  updated_chunk_count_ = chunks_.size();
  AddChunks(&ChunkServer::frozen);
  chunks_of_bucket_.resize(plan.layout().updated_buckets().size());
  bucket_counts_.resize(updated_chunk_count_);
  for (size_t c = 0; c < updated_chunk_count_; ++c) {
    const auto& shard = plan.chunks(chunks_[c].server->shard);
    for (const Block& block : shard[chunks_[c].pull_request.chunk()].blocks) {
      std::vector<size_t>& chunks = chunks_of_bucket_[block.bucket];
      if (!chunks.empty() && chunks.back() == c) continue;
      chunks.push_back(c);
      ++bucket_counts_[c];
    }
  }
  stream_options.timeout = options_.timeout;
  stream_options.waits_for_others = waits_for_others();
  // Under bounded staleness all calls may be under way; see chunk_stream.h.
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) {
    stream_options.calls_per_server = limits::kCallsPerServer;
    stream_options.bytes_per_server = limits::kCallBytesPerServer;
  }
  stream_options.on_waiting = options_.on_waiting;
  pushes_ = std::make_unique<ChunkStream>(std::move(stream_options),
                                          absl::MakeSpan(servers_),
                                          absl::MakeSpan(chunks_));
  const std::string callees = absl::StrJoin(descriptions, ", ");
  waiting_for_push_ = absl::StrCat("Push to ", callees);
  waiting_for_pull_ = absl::StrCat("Pull to ", callees);
  waiting_for_apply_ = absl::StrCat("Apply to ", callees);
}

void ParameterServerStrategy::AddChunks(Chunks chunks) {
  const bool are_frozen = chunks == &ChunkServer::frozen;
  for (ChunkServer& server : servers_) {
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
                                       uint32_t index, ChunkServer& server) {
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
  StagedChunk* const staged = options_.pipelines && !chunk.is_frozen
                                  ? &staged_.emplace_back()
                                  : nullptr;
  for (const Block& block : chunk.blocks) {
    const auto part = [&](absl::Span<std::byte> bucket) {
      return bucket.subspan(block.bucket_offset * SizeOf(state_.type()),
                            block.count * SizeOf(state_.type()));
    };
    absl::Span<std::byte> variables = part(state_.host_variables(block.bucket));
    calls.bytes += static_cast<int64_t>(variables.size());
    if (chunk.is_frozen) {
      calls.variables.push_back({variables});
      continue;
    }
    absl::Span<std::byte> gradients = part(state_.host_gradients(block.bucket));
    if (staged != nullptr) {
      const StagedChunk::Copies copies = staged->AddBlock(gradients, variables);
      gradients = copies.gradients;
      variables = copies.variables;
    }
    calls.variables.push_back({variables});
    calls.gradients.push_back(
        {static_cast<uint32_t>(block.index), type, 0, gradients});
  }
}

ParameterServerStrategy::~ParameterServerStrategy() = default;

absl::Status ParameterServerStrategy::PullVariables() {
  CHECK(!is_pushing_) << "pull while pushes are under way";
  for (ChunkCalls& chunk : updated_chunks()) chunk.pull_request.clear_joins();
  RETURN_IF_ERROR(Pull(&ChunkServer::updated));
  if (has_frozen_) return Upload();
  RETURN_IF_ERROR(Pull(&ChunkServer::frozen));
  has_frozen_ = true;
  return UploadAll(plan_.layout(), state_, stream_);
}

absl::Status ParameterServerStrategy::BeginLease(
    std::optional<double> learning_rate) {
  learning_rate_ = learning_rate;
  if (options_.consistency != v1::CONSISTENCY_BOUNDED) return absl::OkStatus();
  for (ChunkCalls& chunk : updated_chunks()) {
    *chunk.pull_request.mutable_joins() = options_.worker;
    chunk.pull_request.set_sequence(sequence_);
  }
  RETURN_IF_ERROR(Pull(&ChunkServer::updated));
  for (const ChunkCalls& chunk : updated_chunks()) {
    clock_ = std::max(clock_, chunk.pull_response.clock());
  }
  return Upload();
}

absl::Status ParameterServerStrategy::Upload() {
  const ScopedSpan span(lane_, "copy the variables");
  return UploadUpdated(plan_.layout(), state_, stream_);
}

absl::Status ParameterServerStrategy::Pull(Chunks chunks) {
  const ScopedSpan span(lane_, "pull");
  RETURN_IF_ERROR(pushes_->Run(
      waiting_for_pull_, chunks,
      [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
        chunk.server->client->Pull(chunk.pull_request, &chunk.pull_response,
                                   absl::MakeSpan(chunk.variables), timeout,
                                   std::move(done));
      }));
  RETURN_IF_ERROR(CheckVariables(chunks));
  if (chunks == &ChunkServer::updated) TakeVariables();
  return absl::OkStatus();
}

void ParameterServerStrategy::BeginStep(const v1::Progress& position,
                                        bool ends_lease) {
  ++sequence_;
  ++clock_;
  position_ = position;
  ends_lease_ = ends_lease;
  open_buckets_ = bucket_counts_;
  may_send_ = false;
  late_step_.reset();
  if (!is_pushing_) BeginPushes();
}

void ParameterServerStrategy::BeginPushes() {
  may_send_ = true;
  is_pushing_ = true;
  pushes_->Begin(waiting_for_push_, &ChunkServer::updated,
                 [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
                   chunk.server->client->Push(
                       chunk.push_request, chunk.gradients,
                       &chunk.push_response, absl::MakeSpan(chunk.variables),
                       timeout, std::move(done));
                 });
}

void ParameterServerStrategy::Send(size_t index, const v1::Progress& progress) {
  ChunkCalls& chunk = chunks_[index];
  v1::PushRequest& request = chunk.push_request;
  *request.mutable_progress() = progress;
  request.mutable_progress()->set_sequence(sequence_);
  if (learning_rate_) {
    request.set_learning_rate(*learning_rate_);
  } else {
    request.clear_learning_rate();
  }
  if (options_.consistency == v1::CONSISTENCY_BOUNDED) {
    request.mutable_clock()->set_steps(clock_);
    request.mutable_clock()->set_pauses(ends_lease_);
  }
  if (options_.pipelines) {
    staged_[index].StageGradients(absl::MakeSpan(chunk.gradients));
    staged_[index].TakeVariables(chunk.variables);
  } else {
    for (size_t block = 0; block < chunk.gradients.size(); ++block) {
      chunk.gradients[block].version = chunk.variables[block].version;
    }
  }
  pushes_->Release(chunk);
}

void ParameterServerStrategy::TakeVariables() {
  for (size_t c = 0; c < staged_.size(); ++c) {
    staged_[c].TakeVariables(chunks_[c].variables);
  }
}

absl::Status ParameterServerStrategy::EndPushes() {
  const ScopedSpan span(lane_, "wait for the parameter servers");
  RETURN_IF_ERROR(pushes_->Finish());
  is_pushing_ = false;
  RETURN_IF_ERROR(CheckResponses());
  RETURN_IF_ERROR(CheckApplied());
  bool has_norms = false;
  step_ = 0;
  for (const ChunkCalls& chunk : updated_chunks()) {
    step_ = std::max(step_, chunk.push_response.step());
    has_norms |= !chunk.push_response.squared_norms().empty();
  }
  if (has_norms) RETURN_IF_ERROR(Apply());
  return CheckVariables(&ChunkServer::updated);
}

absl::Status ParameterServerStrategy::NextPushes() {
  RETURN_IF_ERROR(EndPushes());
  late_step_ = static_cast<int64_t>(step_);
  BeginPushes();
  return absl::OkStatus();
}

// BucketFinal sends each chunk whose buckets are final, unless pushes of the
// last step are still open. This sends the chunks that had to wait, once those
// pushes have ended.
absl::Status ParameterServerStrategy::GradientsReady(int /*bucket*/) {
  RETURN_IF_ERROR(pushes_->status());
  if (may_send_ || !pushes_->has_ended()) return absl::OkStatus();
  RETURN_IF_ERROR(NextPushes());
  if (!pushes_early()) return absl::OkStatus();
  for (size_t c = 0; c + 1 < updated_chunk_count_; ++c) {
    if (open_buckets_[c] == 0) Send(c, position_);
  }
  return absl::OkStatus();
}

void ParameterServerStrategy::BucketFinal(int bucket) {
  if (!pushes_early()) return;
  PrepareGradients(bucket);
  for (const size_t c : chunks_of_bucket_[bucket]) {
    CHECK_GT(open_buckets_[c], 0);
    const bool is_last = c + 1 == updated_chunk_count_;
    // Keep the last chunk until EndStep, since it carries the sums.
    if (--open_buckets_[c] == 0 && !is_last && may_send_) Send(c, position_);
  }
}

absl::StatusOr<int64_t> ParameterServerStrategy::EndStep(
    const v1::Progress& progress) {
  if (!pushes_early()) {
    if (clips_own_gradients()) clipper_.ClipAll();
    for (size_t b = 0; b < plan_.layout().updated_buckets().size(); ++b) {
      PrepareGradients(static_cast<int>(b));
    }
  }
  if (!may_send_) RETURN_IF_ERROR(NextPushes());
  for (size_t c = 0; c < updated_chunk_count_; ++c) {
    if (!pushes_->is_released(chunks_[c])) Send(c, progress);
  }
  if (!options_.pipelines || ends_lease_) {
    RETURN_IF_ERROR(EndPushes());
    TakeVariables();
  }
  RETURN_IF_ERROR(Upload());
  return is_pushing_ ? kNotAppliedYet : static_cast<int64_t>(step_);
}

void ParameterServerStrategy::PrepareGradients(int bucket) {
  if (clips_own_gradients() && !clipper_.needs_norms()) {
    clipper_.ClipValues(bucket);
  }
  if (options_.consistency == v1::CONSISTENCY_SYNC) return;
  if (state_.type() == DataType::kFloat64) {
    MakeStatisticsParts<double>(bucket);
  } else {
    MakeStatisticsParts<float>(bucket);
  }
}

template <typename T>
void ParameterServerStrategy::MakeStatisticsParts(int bucket) {
  if (plan_.layout().buckets()[bucket].update != VariableUpdate::kDelta) return;
  for (const Part& part : plan_.parts()) {
    if (part.bucket != bucket) continue;
    const auto elements = [&part](absl::Span<std::byte> bytes) {
      return absl::MakeSpan(
          reinterpret_cast<T*>(bytes.data()) + part.bucket_offset,
          static_cast<size_t>(part.count));
    };
    DeltasToParts<T>(part.momentum, elements(state_.host_variables(bucket)),
                     elements(state_.host_gradients(bucket)));
  }
}

absl::Status ParameterServerStrategy::CheckResponses() const {
  const bool expects_norms =
      options_.consistency == v1::CONSISTENCY_SYNC && clipper_.needs_norms();
  const size_t norm_count =
      expects_norms ? plan_.layout().variables().size() : 0;
  for (const ChunkServer& server : servers_) {
    for (size_t c = server.updated.begin; c < server.updated.end; ++c) {
      const v1::PushResponse& response = chunks_[c].push_response;
      if (response.step() < 1 ||
          response.step() > static_cast<uint64_t>(limits::kMaxSteps)) {
        return server.client->Blamed(
            "Push",
            absl::InternalError(absl::StrCat(
                server.client->description(), " answered with step ",
                response.step(), ", expected 1 to ", limits::kMaxSteps)));
      }
      const size_t norms = response.squared_norms().size();
      if (norms > 0 && norms != norm_count) {
        return server.client->Blamed(
            "Push",
            absl::InternalError(absl::StrCat(
                server.client->description(), " sent ", norms,
                " squared norms, expected ", norm_count,
                expects_norms ? ", one for each variable"
                              : ", since the server does not clip by norms")));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ParameterServerStrategy::CheckApplied() {
  for (const ChunkCalls& chunk : updated_chunks()) {
    const v1::PushResponse& response = chunk.push_response;
    if (response.applied() || chunk.attempts > 1) continue;
    // An answer with norms may be too large for shared memory. Then PsClient
    // has repeated the push over gRPC, and this is the answer to the repeat.
    if (!response.squared_norms().empty()) continue;
    const PsClient& client = *chunk.server->client;
    return client.Blamed(
        "Push",
        absl::InternalError(absl::StrCat(
            "Push to ", client.description(), ": push ",
            chunk.push_request.progress().sequence(), " of chunk ",
            chunk.push_request.chunk(),
            " was answered as one that was applied before, though it was sent "
            "once: another process pushes as this worker")));
  }
  return absl::OkStatus();
}

absl::Status ParameterServerStrategy::Apply() {
  // In the order of shards, so that all workers compute the same bits.
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
  return pushes_->Run(
      waiting_for_apply_, &ChunkServer::updated,
      [](ChunkCalls& chunk, absl::Duration timeout, CallDone done) {
        chunk.server->client->Apply(chunk.apply_request, &chunk.apply_response,
                                    absl::MakeSpan(chunk.variables), timeout,
                                    std::move(done));
      });
}

absl::Status ParameterServerStrategy::CheckVariables(Chunks chunks) const {
  for (const ChunkServer& server : servers_) {
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
  const v1::Job& job = parts.registration.job();
  if (job.pipeline() > 0 && job.consistency() != v1::CONSISTENCY_ASYNC) {
    return absl::InternalError(absl::StrCat(
        "the leader's job has pipeline ", job.pipeline(), " with consistency ",
        v1::Consistency_Name(job.consistency()),
        ", expected CONSISTENCY_ASYNC"));
  }
  ParameterServerOptions options;
  options.worker = parts.worker;
  options.caller = parts.caller;
  options.servers.assign(servers.begin(), servers.end());
  options.timeout = absl::Seconds(parts.registration.ps_timeout().seconds());
  options.consistency = job.consistency();
  options.clipping = parts.optimizer.clipping;
  options.pipelines = job.pipeline() > 0;
  options.on_waiting = parts.on_waiting;
  options.trace = parts.trace;
  return std::make_unique<ParameterServerStrategy>(
      std::move(options), parts.plan, parts.state, parts.stream);
}

}  // namespace paceline
