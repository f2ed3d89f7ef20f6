// A shard of a job's variables: a parameter server without its RPC layer.
#ifndef PACELINE_PS_SERVER_SHARD_H_
#define PACELINE_PS_SERVER_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/base/read_fence.h"
#include "common/base/ticker.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/checkpointer.h"
#include "common/checkpoint/manifest_content.h"
#include "common/rpc/dense_values.h"
#include "common/tensor/shape.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/chunk_swaps.h"
#include "ps_server/shard_chunk.h"

namespace paceline {

// The methods are the calls of ParameterServerService; see
// proto/paceline/v1/ps.proto. Before Initialize all other calls fail with
// FailedPrecondition, and so do Push, Apply and Pull for another incarnation of
// the server.
//
//   EMPTY ── Initialize ──> READY ── Push, Apply, Pull, Fence … ──> READY
//
// The shard's chunks are independent of each other. Thread-safe.
class Shard {
 public:
  using Done = ShardChunk::Done;

  // `incarnation` is that of this process. Variables are float32 or float64.
  // `fence`: for what opens the job's files.
  explicit Shard(uint64_t incarnation, DataType type = DataType::kFloat32,
                 ReadFence fence = {});
  // All calls must have ended.
  ~Shard();

  // Sets the folder below which checkpoints are written. Without it Snapshot
  // fails with FailedPrecondition.
  void SetCheckpointFolder(const std::string& folder);

  absl::Status Initialize(const v1::InitializeRequest& request,
                          v1::InitializeResponse& response);

  // Whether it holds its variables.
  bool is_ready() const;

  // As in PsClient, blocks are passed beside the messages: the variables are
  // written into `buffers`, which must have the sizes of block_sizes() of the
  // chunk, and may be the memory of this call's gradients. InvalidArgument if
  // the buffers have other sizes, or there is no such chunk.
  //
  // Calls `done` once the response and the variables are complete: before Push
  // returns, or later, from the call that releases the held push. All arguments
  // must stay valid until then.
  void Push(const v1::PushRequest& request,
            absl::Span<const DenseValues> gradients, v1::PushResponse& response,
            absl::Span<DenseBuffer> buffers, Done done);

  absl::Status Apply(const v1::ApplyRequest& request,
                     v1::ApplyResponse& response,
                     absl::Span<DenseBuffer> buffers);

  absl::Status Pull(const v1::PullRequest& request, v1::PullResponse& response,
                    absl::Span<DenseBuffer> buffers);

  // Bytes of the variables of each block of the chunk in the request. The error
  // is that of the call itself.
  template <typename Request>
  absl::StatusOr<absl::Span<const size_t>> BlockSizesFor(
      const Request& request) const {
    const absl::StatusOr<ShardChunk*> chunk = ChunkOf(request);
    if (!chunk.ok()) return chunk.status();
    return (*chunk)->block_sizes();
  }

  // Returns the first error of a chunk. Other chunks have admitted the workers;
  // a repeated call completes the rest.
  absl::Status Admit(const v1::AdmitRequest& request,
                     v1::AdmitResponse& response);

  // Answers with the furthest progress of all chunks.
  absl::Status Fence(const v1::FenceRequest& request,
                     v1::FenceResponse& response);

  // Copies the state of one chunk after another, each when its admitted pushes
  // are applied. The caller must ensure that no push arrives in between. A
  // repeat for the same name gets the same answer. InvalidArgument if the name
  // is not that of a checkpoint. See Checkpointer::Start for a name that was
  // used before.
  absl::Status Snapshot(const v1::SnapshotRequest& request,
                        v1::SnapshotResponse& response);

  // Does not block: the writing thread calls `done`.
  void WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                       Checkpointer::Done done);

  // Loads the variables of a checkpoint into one chunk after another, or swaps
  // them with their averages, each when its admitted pushes are applied. Other
  // slots, and the counts of updates, stay. The caller must ensure that no push
  // arrives in between. A repeat of the last order changes nothing, or goes on
  // with a swap that failed in between. InvalidArgument if the order is
  // invalid; other errors are those of CheckpointReader. Blocks on the disk.
  //
  // Of a checkpoint that this shard has written it needs no more than its own
  // file, which stays until DiscardCheckpoint: the leader may have collected
  // the others, with the manifest, on another machine.
  absl::Status ChangeVariables(const v1::ChangeVariablesRequest& request,
                               v1::ChangeVariablesResponse& response);

  // Both block on the disk.
  absl::Status ReadCheckpoint(const v1::ReadCheckpointRequest& request,
                              v1::ReadCheckpointResponse& response) const;
  absl::Status DiscardCheckpoint(const v1::DiscardCheckpointRequest& request,
                                 v1::DiscardCheckpointResponse& response);

 private:
  using Chunks = std::vector<std::unique_ptr<ShardChunk>>;

  // The chunks, which live as long as the shard. FailedPrecondition before
  // Initialize.
  absl::StatusOr<const Chunks*> Ready() const;
  // The chunk in the request.
  template <typename Request>
  absl::StatusOr<ShardChunk*> ChunkOf(const Request& request) const {
    return ChunkAt(request.ps_incarnation(), request.chunk());
  }
  absl::StatusOr<ShardChunk*> ChunkAt(uint64_t ps_incarnation,
                                      uint32_t chunk) const;
  // The path of the shard's file in the checkpoint of this name.
  // InvalidArgument if it is not that of a checkpoint.
  absl::StatusOr<std::string> FileOf(const std::string& checkpoint) const;
  // Keeps in mind what the shard has written, and forgets files that are gone.
  void Remember(const std::string& checkpoint, const ShardFile& file);
  // A reader of what the shard needs of a checkpoint.
  absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenCheckpoint(
      const Chunks& chunks, const std::string& checkpoint) const;
  // Carry out an order; see ChangeVariables.
  absl::Status Load(const Chunks& chunks, const std::string& checkpoint,
                    absl::Time deadline);
  absl::Status SwapAverages(const Chunks& chunks, uint64_t order,
                            absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(order_mutex_);
  // Tells the time to the chunks, every kTick.
  void PassTime();
  void LogStaleness(const Chunks& chunks) const;

  const uint64_t incarnation_;
  const DataType type_;
  const ReadFence fence_;

  // Locked for the whole of Initialize.
  Mutex initialize_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  v1::InitializeRequest initialize_request_ ABSL_GUARDED_BY(initialize_mutex_);
  v1::InitializeResponse initialize_response_
      ABSL_GUARDED_BY(initialize_mutex_);

  mutable Mutex mutex_;
  bool is_ready_ ABSL_GUARDED_BY(mutex_) = false;
  // Constant once the shard is ready; so are the members below.
  Chunks chunks_ ABSL_GUARDED_BY(mutex_);
  int64_t initial_step_ ABSL_GUARDED_BY(mutex_) = 0;
  int shard_ ABSL_GUARDED_BY(mutex_) = 0;
  int shard_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // The name of the shard's file in a checkpoint.
  std::string file_name_ ABSL_GUARDED_BY(mutex_);

  std::string checkpoint_folder_ ABSL_GUARDED_BY(mutex_);
  // The shard's files on disk, by the name of their checkpoint.
  std::map<std::string, ShardFile> written_ ABSL_GUARDED_BY(mutex_);

  // Locked for the whole of Snapshot.
  Mutex snapshot_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  // The name and the answer of the last snapshot.
  std::string snapshot_name_ ABSL_GUARDED_BY(snapshot_mutex_);
  int64_t snapshot_step_ ABSL_GUARDED_BY(snapshot_mutex_) = 0;

  // Locked for the whole of ChangeVariables.
  Mutex order_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  // The number of the last order that was carried out.
  uint64_t last_order_ ABSL_GUARDED_BY(order_mutex_) = 0;
  ChunkSwaps swaps_ ABSL_GUARDED_BY(order_mutex_);

  Checkpointer checkpointer_;
  // Under bounded staleness: tells the time to the chunks.
  std::unique_ptr<Ticker> ticker_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_H_
