#include "ps_server/shard.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "google/protobuf/util/message_differencer.h"
#include "ps_server/aggregator.h"
#include "ps_server/chunk_variables.h"

namespace paceline {
namespace {

// What a shard starts with.
struct InitialState {
  std::vector<std::unique_ptr<ShardChunk>> chunks;
  int64_t size_bytes = 0;
  int64_t step = 0;
};

// What precedes a chunk's entries in the metadata of a shard's file.
std::string ChunkPrefix(size_t chunk) {
  return absl::StrCat("chunk/", chunk, "/");
}

// The entries of a chunk, without the prefix.
std::map<std::string, std::string> EntriesOf(
    size_t chunk, const SafetensorsMetadata& metadata) {
  const std::string prefix = ChunkPrefix(chunk);
  std::map<std::string, std::string> entries;
  for (const auto& [key, value] : metadata) {
    absl::string_view name = key;
    if (absl::ConsumePrefix(&name, prefix)) entries.emplace(name, value);
  }
  return entries;
}

// Logical steps a shard goes on from. With another number of shards than wrote
// the checkpoint, no file is the shard's own: it follows the one furthest on.
int64_t RestoredStep(const Manifest& manifest, int shard, int shard_count) {
  if (static_cast<int>(manifest.shards.size()) == shard_count) {
    return manifest.shards[shard].step;
  }
  int64_t step = 0;
  for (const ShardFile& file : manifest.shards) {
    step = std::max(step, file.step);
  }
  return step;
}

AggregatorOptions OptionsOf(const v1::InitializeRequest& request,
                            bool needs_norms) {
  AggregatorOptions options;
  if (request.job().consistency() != v1::CONSISTENCY_UNSPECIFIED) {
    options.consistency = request.job().consistency();
  }
  options.workers = std::max(1u, request.workers());
  options.max_staleness = request.job().max_staleness();
  options.applies_apart =
      options.consistency == v1::CONSISTENCY_SYNC && needs_norms;
  return options;
}

absl::StatusOr<InitialState> MakeInitialState(
    const v1::InitializeRequest& request, DataType type) {
  const int shard = static_cast<int>(request.shard());
  const int shard_count = static_cast<int>(request.shard_count());
  ASSIGN_OR_RETURN(
      std::vector<std::unique_ptr<ChunkVariables>> variables,
      ChunkVariables::Create(request.job(), shard, shard_count, type));
  InitialState state;
  std::unique_ptr<CheckpointReader> checkpoint;
  SafetensorsMetadata metadata;
  if (!request.restore_path().empty()) {
    ASSIGN_OR_RETURN(checkpoint,
                     CheckpointReader::Open(request.restore_path()));
    const Manifest& manifest = checkpoint->manifest();
    state.step = RestoredStep(manifest, shard, shard_count);
    if (static_cast<int>(manifest.shards.size()) == shard_count) {
      ASSIGN_OR_RETURN(metadata, checkpoint->ShardMetadata(shard));
    }
  }
  for (std::unique_ptr<ChunkVariables>& each : variables) {
    if (checkpoint == nullptr) {
      each->InitializeFromSeed();
    } else {
      RETURN_IF_ERROR(each->Restore(*checkpoint, state.step));
    }
    const AggregatorOptions options = OptionsOf(request, each->needs_norms());
    ASSIGN_OR_RETURN(
        Aggregator aggregator,
        Aggregator::Restore(state.step,
                            EntriesOf(state.chunks.size(), metadata), options));
    state.size_bytes += each->size_bytes();
    state.chunks.push_back(std::make_unique<ShardChunk>(
        std::move(each), std::move(aggregator), options));
  }
  return state;
}

}  // namespace

Shard::Shard(uint64_t incarnation, DataType type)
    : incarnation_(incarnation), type_(type) {}

Shard::~Shard() {
  const absl::StatusOr<const Chunks*> chunks = Ready();
  if (chunks.ok()) LogStaleness(**chunks);
}

absl::StatusOr<const Shard::Chunks*> Shard::Ready() const {
  MutexLock lock(mutex_);
  if (!is_ready_) {
    return absl::FailedPreconditionError(
        "the parameter server is not initialised");
  }
  return &chunks_;
}

template <typename Request>
absl::StatusOr<ShardChunk*> Shard::ChunkOf(const Request& request) const {
  if (request.ps_incarnation() != incarnation_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the call is meant for incarnation ",
        absl::Hex(request.ps_incarnation()),
        " of the parameter server; this is ", absl::Hex(incarnation_)));
  }
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  if (request.chunk() >= chunks->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a call for chunk ", request.chunk(), ": the shard has ",
                     chunks->size(), " chunks"));
  }
  return (*chunks)[request.chunk()].get();
}

absl::Status Shard::Initialize(const v1::InitializeRequest& request,
                               v1::InitializeResponse& response) {
  MutexLock initialize_lock(initialize_mutex_);
  if (Ready().ok()) {
    if (!google::protobuf::util::MessageDifferencer::Equals(
            request, initialize_request_)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the parameter server is initialised as shard ",
                       initialize_request_.shard(), " of ",
                       initialize_request_.shard_count(), " of job ",
                       initialize_request_.job().name(), " already"));
    }
    response = initialize_response_;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(InitialState state, MakeInitialState(request, type_));
  response.set_step(static_cast<uint64_t>(state.step));
  response.set_size_bytes(static_cast<uint64_t>(state.size_bytes));
  initialize_request_ = request;
  initialize_response_ = response;
  LOG(INFO) << "shard " << request.shard() << " of " << request.shard_count()
            << ": " << response.size_bytes()
            << " bytes of variables and slots in " << state.chunks.size()
            << " chunks at step " << response.step()
            << (request.restore_path().empty() ? "" : " from ")
            << request.restore_path();
  MutexLock lock(mutex_);
  file_name_ = ShardFileName(static_cast<int>(request.shard()),
                             static_cast<int>(request.shard_count()));
  initial_step_ = state.step;
  chunks_ = std::move(state.chunks);
  is_ready_ = true;
  return absl::OkStatus();
}

void Shard::Push(const v1::PushRequest& request,
                 absl::Span<const DenseValues> gradients,
                 v1::PushResponse& response, absl::Span<DensePlace> places,
                 Done done) {
  const absl::StatusOr<ShardChunk*> chunk = ChunkOf(request);
  if (!chunk.ok()) return done(chunk.status());
  (*chunk)->Push(request, gradients, response, places, std::move(done));
}

absl::Status Shard::Apply(const v1::ApplyRequest& request,
                          v1::ApplyResponse& response,
                          absl::Span<DensePlace> places) {
  ASSIGN_OR_RETURN(ShardChunk* const chunk, ChunkOf(request));
  return chunk->Apply(request, response, places);
}

absl::Status Shard::Pull(const v1::PullRequest& request,
                         v1::PullResponse& response,
                         absl::Span<DensePlace> places) {
  ASSIGN_OR_RETURN(ShardChunk* const chunk, ChunkOf(request));
  return chunk->Pull(request, response, places);
}

absl::Span<const size_t> Shard::block_sizes(uint32_t chunk) const {
  const absl::StatusOr<const Chunks*> chunks = Ready();
  if (!chunks.ok() || chunk >= (*chunks)->size()) return {};
  return (**chunks)[chunk]->block_sizes();
}

absl::Status Shard::Fence(const v1::FenceRequest& request,
                          v1::FenceResponse& response) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  for (const std::unique_ptr<ShardChunk>& chunk : *chunks) {
    v1::FenceResponse fenced;
    chunk->Fence(request.worker(), fenced);
    if (fenced.progress().sequence() > response.progress().sequence()) {
      response = std::move(fenced);
    }
  }
  LOG(INFO) << "fenced worker-" << request.worker().rank()
            << ", whose last push applied was "
            << response.progress().sequence();
  return absl::OkStatus();
}

absl::Status Shard::Snapshot(const v1::SnapshotRequest& request,
                             v1::SnapshotResponse& response) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  const absl::Time deadline = MonotonicNow() + limits::kPsTimeout;
  MutexLock snapshot_lock(snapshot_mutex_);
  if (request.path() != snapshot_path_) {
    ShardSnapshot snapshot;
    {
      MutexLock lock(mutex_);
      snapshot.file = file_name_;
      snapshot.step = initial_step_;
    }
    for (size_t c = 0; c < chunks->size(); ++c) {
      absl::StatusOr<ShardChunk::Saved> saved =
          (*chunks)[c]->Save(deadline, snapshot.tensors);
      if (!saved.ok()) {
        return Annotate(saved.status(),
                        absl::StrCat("snapshot for ", request.path()));
      }
      snapshot.step = std::max(snapshot.step, saved->step);
      for (auto& [key, value] : saved->workers) {
        snapshot.metadata[ChunkPrefix(c) + key] = std::move(value);
      }
    }
    snapshot.metadata["format"] = "paceline";
    snapshot.metadata["step"] = absl::StrCat(snapshot.step);
    snapshot_path_ = request.path();
    snapshot_step_ = snapshot.step;
    checkpointer_.Start(request.path(), std::move(snapshot));
    LogStaleness(*chunks);
  }
  response.set_step(static_cast<uint64_t>(snapshot_step_));
  return absl::OkStatus();
}

void Shard::WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                            Checkpointer::Done done) {
  const absl::Status ready = Ready().status();
  if (!ready.ok()) return done(ready);
  checkpointer_.WhenWritten(request.path(), std::move(done));
}

void Shard::LogStaleness(const Chunks& chunks) const {
  Staleness all;
  for (const std::unique_ptr<ShardChunk>& chunk : chunks) {
    const Staleness staleness = chunk->staleness();
    all.pushes += staleness.pushes;
    all.sum += staleness.sum;
    all.max = std::max(all.max, staleness.max);
  }
  if (all.pushes == 0) return;
  LOG(INFO) << all.pushes << " pushes applied; staleness "
            << static_cast<double>(all.sum) / static_cast<double>(all.pushes)
            << " on average, " << all.max << " at most";
}

}  // namespace paceline
