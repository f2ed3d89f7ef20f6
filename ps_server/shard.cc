#include "ps_server/shard.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/manifest_content.h"
#include "common/checkpoint/variables_order.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "google/protobuf/util/message_differencer.h"
#include "ps_server/check_initialize.h"
#include "ps_server/shard_start.h"
#include "ps_server/worker_entries.h"

namespace paceline {
namespace {

// Interval at which chunks check whether a worker has lapsed.
constexpr absl::Duration kTick = absl::Seconds(1);

std::string ChunkName(size_t chunk) { return absl::StrCat("chunk ", chunk); }

}  // namespace

Shard::Shard(uint64_t incarnation, DataType type, ReadFence fence)
    : incarnation_(incarnation), type_(type), fence_(std::move(fence)) {}

Shard::~Shard() {
  const absl::StatusOr<const Chunks*> chunks = Ready();
  if (chunks.ok()) LogStaleness(**chunks);
}

bool Shard::is_ready() const {
  MutexLock lock(mutex_);
  return is_ready_;
}

absl::StatusOr<const Shard::Chunks*> Shard::Ready() const {
  MutexLock lock(mutex_);
  if (!is_ready_) {
    return absl::FailedPreconditionError(
        "the parameter server is not initialised");
  }
  return &chunks_;
}

absl::StatusOr<ShardChunk*> Shard::ChunkAt(uint64_t ps_incarnation,
                                           uint32_t chunk) const {
  if (ps_incarnation != incarnation_) {
    return absl::FailedPreconditionError(
        "the call is meant for another process of this parameter server");
  }
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  if (chunk >= chunks->size()) {
    return absl::InvalidArgumentError(absl::StrCat("a call for chunk ", chunk,
                                                   ": the shard has ",
                                                   chunks->size(), " chunks"));
  }
  return (*chunks)[chunk].get();
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
  RETURN_IF_ERROR(CheckInitialize(request));
  ASSIGN_OR_RETURN(ShardStart start, MakeShardStart(request, type_, fence_));
  response.set_step(static_cast<uint64_t>(start.step));
  response.set_size_bytes(static_cast<uint64_t>(start.size_bytes));
  initialize_request_ = request;
  initialize_response_ = response;
  LOG(INFO) << "shard " << request.shard() << " of " << request.shard_count()
            << ": " << response.size_bytes()
            << " bytes of variables and slots in " << start.chunks.size()
            << " chunks at step " << response.step()
            << (request.restore_path().empty() ? "" : " from ")
            << request.restore_path();
  if (request.job().consistency() == v1::CONSISTENCY_BOUNDED) {
    ticker_ = std::make_unique<Ticker>(kTick, [this] { PassTime(); });
  }
  MutexLock lock(mutex_);
  shard_ = static_cast<int>(request.shard());
  shard_count_ = static_cast<int>(request.shard_count());
  file_name_ = ShardFileName(shard_, shard_count_);
  initial_step_ = start.step;
  chunks_ = std::move(start.chunks);
  is_ready_ = true;
  return absl::OkStatus();
}

void Shard::Push(const v1::PushRequest& request,
                 absl::Span<const DenseValues> gradients,
                 v1::PushResponse& response, absl::Span<DenseBuffer> buffers,
                 Done done) {
  const absl::StatusOr<ShardChunk*> chunk = ChunkOf(request);
  if (!chunk.ok()) return done(chunk.status());
  (*chunk)->Push(request, gradients, response, buffers, std::move(done));
}

absl::Status Shard::Apply(const v1::ApplyRequest& request,
                          v1::ApplyResponse& response,
                          absl::Span<DenseBuffer> buffers) {
  ASSIGN_OR_RETURN(ShardChunk* const chunk, ChunkOf(request));
  return Annotate(chunk->Apply(request, response, buffers),
                  ChunkName(request.chunk()));
}

absl::Status Shard::Pull(const v1::PullRequest& request,
                         v1::PullResponse& response,
                         absl::Span<DenseBuffer> buffers) {
  ASSIGN_OR_RETURN(ShardChunk* const chunk, ChunkOf(request));
  return Annotate(chunk->Pull(request, response, buffers),
                  ChunkName(request.chunk()));
}

absl::Status Shard::Admit(const v1::AdmitRequest& request,
                          v1::AdmitResponse& /*response*/) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  for (const v1::WorkerId& worker : request.workers()) {
    for (const std::unique_ptr<ShardChunk>& chunk : *chunks) {
      RETURN_IF_ERROR(chunk->Admit(worker));
    }
  }
  return absl::OkStatus();
}

absl::Status Shard::Fence(const v1::FenceRequest& request,
                          v1::FenceResponse& response) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  for (const std::unique_ptr<ShardChunk>& chunk : *chunks) {
    v1::FenceResponse fenced;
    chunk->Fence(request.worker(), fenced);
    if (fenced.progress().sequence() > response.progress().sequence()) {
      *response.mutable_progress() = fenced.progress();
    }
    if (fenced.summed().sequence() > response.summed().sequence()) {
      *response.mutable_summed() = fenced.summed();
    }
  }
  LOG(INFO) << "fenced worker-" << request.worker().rank()
            << ", whose last push applied was "
            << response.progress().sequence();
  return absl::OkStatus();
}

void Shard::SetCheckpointFolder(const std::string& folder) {
  MutexLock lock(mutex_);
  checkpoint_folder_ = folder;
}

absl::Status Shard::Snapshot(const v1::SnapshotRequest& request,
                             v1::SnapshotResponse& response) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  RETURN_IF_ERROR(CheckCheckpointName(request.name()));
  MutexLock snapshot_lock(snapshot_mutex_);
  const absl::Time deadline = MonotonicNow() + limits::kPsTimeout;
  if (request.name() != snapshot_name_) {
    ShardSnapshot snapshot;
    std::string folder;
    {
      MutexLock lock(mutex_);
      folder = checkpoint_folder_;
      snapshot.file = file_name_;
      snapshot.step = initial_step_;
    }
    std::vector<WorkerEntries> workers;
    for (size_t c = 0; c < chunks->size(); ++c) {
      absl::StatusOr<ShardChunk::Saved> saved =
          (*chunks)[c]->Save(deadline, snapshot.tensors);
      if (!saved.ok()) {
        return Annotate(
            saved.status(),
            absl::StrCat("snapshot for ", request.name(), ", ", ChunkName(c)));
      }
      snapshot.step = std::max(snapshot.step, saved->step);
      // Frozen chunks come last and get no pushes.
      if ((*chunks)[c]->is_frozen()) continue;
      workers.push_back(std::move(saved->workers));
    }
    snapshot.metadata = JoinWorkerEntries(workers);
    snapshot.metadata["format"] = "paceline";
    snapshot.metadata["step"] = absl::StrCat(snapshot.step);
    const int64_t step = snapshot.step;
    RETURN_IF_ERROR(
        checkpointer_.Start(folder, request.name(), std::move(snapshot)));
    snapshot_name_ = request.name();
    snapshot_step_ = step;
    LogStaleness(*chunks);
  }
  response.set_step(static_cast<uint64_t>(snapshot_step_));
  return absl::OkStatus();
}

absl::Status Shard::ChangeVariables(const v1::ChangeVariablesRequest& request,
                                    v1::ChangeVariablesResponse& /*response*/) {
  ASSIGN_OR_RETURN(const Chunks* const chunks, Ready());
  const v1::VariablesOrder& order = request.order();
  RETURN_IF_ERROR(CheckOrder(order));
  for (const std::unique_ptr<ShardChunk>& chunk : *chunks) {
    RETURN_IF_ERROR(CheckHasAverages(order, chunk->has_averages()));
  }
  MutexLock order_lock(order_mutex_);
  const absl::Time deadline = MonotonicNow() + limits::kPsTimeout;
  if (order.number() <= last_order_) return absl::OkStatus();
  if (order.kind() == v1::VariablesOrder::KIND_LOAD) {
    RETURN_IF_ERROR(Load(*chunks, order.checkpoint(), deadline));
  } else {
    RETURN_IF_ERROR(SwapAverages(*chunks, order.number(), deadline));
  }
  last_order_ = order.number();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> Shard::OpenCheckpoint(
    const Chunks& chunks, const std::string& checkpoint) const {
  std::string folder;
  std::optional<ShardFile> own;
  Manifest manifest;
  {
    MutexLock lock(mutex_);
    folder = absl::StrCat(checkpoint_folder_, "/", checkpoint);
    const auto written = written_.find(checkpoint);
    if (written != written_.end()) own = written->second;
    manifest.shards.resize(static_cast<size_t>(shard_count_));
    if (own) manifest.shards[static_cast<size_t>(shard_)] = *own;
  }
  std::error_code error;
  const bool has_manifest =
      std::filesystem::exists(absl::StrCat(folder, "/manifest.json"), error);
  if (has_manifest || !own || chunks.empty()) {
    return CheckpointReader::Open(folder);
  }
  // The variables lie as they did when this shard wrote the file.
  manifest.type = type_;
  manifest.variables = chunks.front()->stored_variables();
  return CheckpointReader::OpenAs(folder, std::move(manifest));
}

absl::Status Shard::Load(const Chunks& chunks, const std::string& checkpoint,
                         absl::Time deadline) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   OpenCheckpoint(chunks, checkpoint));
  for (size_t c = 0; c < chunks.size(); ++c) {
    RETURN_IF_ERROR(
        Annotate(chunks[c]->Load(deadline, *reader),
                 absl::StrCat("loading ", checkpoint, ", ", ChunkName(c))));
  }
  LOG(INFO) << "loaded the variables of " << checkpoint;
  return absl::OkStatus();
}

absl::Status Shard::SwapAverages(const Chunks& chunks, uint64_t order,
                                 absl::Time deadline) {
  RETURN_IF_ERROR(swaps_.CarryOut(order, chunks.size(), [&](size_t chunk) {
    return Annotate(chunks[chunk]->SwapAverages(deadline),
                    absl::StrCat("swapping averages, ", ChunkName(chunk)));
  }));
  LOG(INFO) << "swapped the variables with their averages";
  return absl::OkStatus();
}

void Shard::WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                            Checkpointer::Done done) {
  const absl::Status ready = Ready().status();
  if (!ready.ok()) return done(ready);
  checkpointer_.WhenWritten(
      request.name(), [this, name = request.name(), done = std::move(done)](
                          const Checkpointer::Result& file) {
        if (file.ok()) Remember(name, *file);
        done(file);
      });
}

void Shard::Remember(const std::string& checkpoint, const ShardFile& file) {
  std::map<std::string, std::string> paths;
  {
    MutexLock lock(mutex_);
    for (const auto& [name, _] : written_) {
      paths[name] =
          absl::StrCat(checkpoint_folder_, "/", name, "/", file_name_);
    }
  }
  // Without the lock, since a file system may be slow.
  std::erase_if(paths, [](const auto& path) {
    std::error_code error;
    const bool exists = std::filesystem::exists(path.second, error);
    // What cannot be looked at may be there.
    return exists || error;
  });
  MutexLock lock(mutex_);
  for (const auto& [gone, _] : paths) written_.erase(gone);
  written_[checkpoint] = file;
}

absl::StatusOr<std::string> Shard::FileOf(const std::string& checkpoint) const {
  RETURN_IF_ERROR(Ready().status());
  RETURN_IF_ERROR(CheckCheckpointName(checkpoint));
  MutexLock lock(mutex_);
  return absl::StrCat(checkpoint_folder_, "/", checkpoint, "/", file_name_);
}

absl::Status Shard::ReadCheckpoint(const v1::ReadCheckpointRequest& request,
                                   v1::ReadCheckpointResponse& response) const {
  ASSIGN_OR_RETURN(const std::string path, FileOf(request.name()));
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file,
                   OpenRandomAccess(path));
  const auto size = static_cast<uint64_t>(file->size_bytes());
  if (request.offset() > size) {
    return absl::OutOfRangeError(absl::StrCat("offset ", request.offset(),
                                              " of ", path,
                                              "; expected at most ", size));
  }
  std::string& content = *response.mutable_content();
  content.resize(std::min(size - request.offset(), kCheckpointPieceBytes));
  return file->ReadAt(
      static_cast<int64_t>(request.offset()),
      {reinterpret_cast<std::byte*>(content.data()), content.size()});
}

absl::Status Shard::DiscardCheckpoint(
    const v1::DiscardCheckpointRequest& request,
    v1::DiscardCheckpointResponse& /*response*/) {
  ASSIGN_OR_RETURN(const std::filesystem::path path, FileOf(request.name()));
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoError("cannot delete", path.string(), error);
  }
  {
    MutexLock lock(mutex_);
    written_.erase(request.name());
  }
  // Fails while the folder has the file of another shard, which is as it should
  // be.
  std::filesystem::remove(path.parent_path(), error);
  return absl::OkStatus();
}

void Shard::PassTime() {
  const absl::StatusOr<const Chunks*> chunks = Ready();
  if (!chunks.ok()) return;
  const absl::Time now = MonotonicNow();
  std::set<uint32_t> lapsed;
  for (const std::unique_ptr<ShardChunk>& chunk : **chunks) {
    const std::vector<uint32_t> workers = chunk->HandleTime(now);
    lapsed.insert(workers.begin(), workers.end());
  }
  for (const uint32_t worker : lapsed) {
    LOG(WARNING) << "worker-" << worker << " took no step for "
                 << limits::kStallTimeout
                 << "; until it takes one, the others do not wait for it";
  }
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
  LOG(INFO) << all.pushes << " pushes of chunks applied; staleness "
            << static_cast<double>(all.sum) / static_cast<double>(all.pushes)
            << " on average, " << all.max << " at most";
}

}  // namespace paceline
