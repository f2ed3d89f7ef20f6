// A shard of a job's variables: what a parameter server is, but for the wire.
#ifndef PACELINE_PS_SERVER_SHARD_H_
#define PACELINE_PS_SERVER_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/base/ticker.h"
#include "common/checkpoint/checkpointer.h"
#include "common/rpc/dense_values.h"
#include "common/tensor/shape.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/shard_chunk.h"

namespace paceline {

// The methods are the calls of ParameterServerService;
// proto/paceline/v1/ps.proto says what they mean. Before Initialize all others
// fail with FailedPrecondition, and so do calls meant for another incarnation.
//
//   EMPTY ── Initialize ──> READY ── Push, Apply, Pull, Fence … ──> READY
//
// Its chunks know nothing of each other. Thread-safe.
class Shard {
 public:
  using Done = ShardChunk::Done;

  // `incarnation` is that of the process. Variables are float32 or float64.
  explicit Shard(uint64_t incarnation, DataType type = DataType::kFloat32);
  // No call may be open.
  ~Shard();

  // Names the folder below which checkpoints are written. Snapshot fails with
  // FailedPrecondition before.
  void SetCheckpointFolder(const std::string& folder);

  absl::Status Initialize(const v1::InitializeRequest& request,
                          v1::InitializeResponse& response);

  // As for PsClient, gradients and variables are no part of the messages:
  // variables are written to buffers of block_sizes() of the chunk, where the
  // gradients of the same call may lie. InvalidArgument if these buffers are
  // others, or there is no such chunk.
  //
  // Calls `done` when response and variables are there: before it returns, or
  // later from the call that releases the push. All arguments stay valid until
  // then.
  void Push(const v1::PushRequest& request,
            absl::Span<const DenseValues> gradients, v1::PushResponse& response,
            absl::Span<DenseBuffer> buffers, Done done);

  absl::Status Apply(const v1::ApplyRequest& request,
                     v1::ApplyResponse& response,
                     absl::Span<DenseBuffer> buffers);

  absl::Status Pull(const v1::PullRequest& request, v1::PullResponse& response,
                    absl::Span<DenseBuffer> buffers);

  // Bytes of the variables of each block of the chunk that a push, an Apply or
  // a pull is for. Errors are those of the call.
  template <typename Request>
  absl::StatusOr<absl::Span<const size_t>> BlockSizesFor(
      const Request& request) const {
    const absl::StatusOr<ShardChunk*> chunk = ChunkOf(request);
    if (!chunk.ok()) return chunk.status();
    return (*chunk)->block_sizes();
  }

  // The first error of a chunk, which leaves others as they are; a repeat goes
  // on from there.
  absl::Status Admit(const v1::AdmitRequest& request,
                     v1::AdmitResponse& response);

  // Of the chunks' answers, the one that is furthest on.
  absl::Status Fence(const v1::FenceRequest& request,
                     v1::FenceResponse& response);

  // Copies the state of chunk after chunk, each when its admitted pushes are
  // applied; the caller sees to it that no push comes in between. A repeat for
  // the same name answers as the first did. InvalidArgument if the name is not
  // that of a checkpoint; see Checkpointer::Start for one that comes again.
  absl::Status Snapshot(const v1::SnapshotRequest& request,
                        v1::SnapshotResponse& response);

  // Does not wait: `done` comes from the writing thread.
  void WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                       Checkpointer::Done done);

 private:
  using Chunks = std::vector<std::unique_ptr<ShardChunk>>;

  // The chunks; FailedPrecondition before Initialize. They live as long as the
  // shard.
  absl::StatusOr<const Chunks*> Ready() const;
  // The chunk that a push, a pull or the like is for.
  template <typename Request>
  absl::StatusOr<ShardChunk*> ChunkOf(const Request& request) const {
    return ChunkAt(request.ps_incarnation(), request.chunk());
  }
  absl::StatusOr<ShardChunk*> ChunkAt(uint64_t ps_incarnation,
                                      uint32_t chunk) const;
  // Tells the chunks that time passed.
  void PassTime();
  void LogStaleness(const Chunks& chunks) const;

  const uint64_t incarnation_;
  const DataType type_;

  // Held for the whole of Initialize.
  Mutex initialize_mutex_;
  v1::InitializeRequest initialize_request_ ABSL_GUARDED_BY(initialize_mutex_);
  v1::InitializeResponse initialize_response_
      ABSL_GUARDED_BY(initialize_mutex_);

  mutable Mutex mutex_;
  bool is_ready_ ABSL_GUARDED_BY(mutex_) = false;
  // Never changed once ready; so is what follows.
  Chunks chunks_ ABSL_GUARDED_BY(mutex_);
  int64_t initial_step_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of its part of a checkpoint.
  std::string file_name_ ABSL_GUARDED_BY(mutex_);

  std::string checkpoint_folder_ ABSL_GUARDED_BY(mutex_);

  // Held for the whole of Snapshot.
  Mutex snapshot_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  // The last snapshot.
  std::string snapshot_name_ ABSL_GUARDED_BY(snapshot_mutex_);
  int64_t snapshot_step_ ABSL_GUARDED_BY(snapshot_mutex_) = 0;

  Checkpointer checkpointer_;
  // Where chunks are to be told the time.
  std::unique_ptr<Ticker> ticker_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_H_
