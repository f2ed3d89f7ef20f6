// A shard of a job's variables: what a parameter server is, but for the wire.
#ifndef PACELINE_PS_SERVER_SHARD_H_
#define PACELINE_PS_SERVER_SHARD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/checkpoint/checkpointer.h"
#include "common/tensor/shape.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/aggregator.h"
#include "ps_server/shard_variables.h"

namespace paceline {

// The methods are the calls of ParameterServerService;
// proto/paceline/v1/ps.proto says what they mean. Before Initialize all others
// fail with FailedPrecondition, and so do calls meant for another incarnation.
//
//   EMPTY ── Initialize ──> READY ── Push, Pull, Fence, Snapshot ──> READY
//
// Thread-safe. A push is admitted by the aggregator under the shard's lock and
// applied under the locks of the blocks, so pushes to different blocks run side
// by side.
class Shard {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `incarnation` is that of the process. Variables are float32 or float64.
  explicit Shard(uint64_t incarnation, DataType type = DataType::kFloat32);
  // No call may be open.
  ~Shard();

  absl::Status Initialize(const v1::InitializeRequest& request,
                          v1::InitializeResponse& response);

  // Calls `done` when `response` is filled: before it returns, or later from
  // the call that releases the push. Request and response stay valid until
  // then.
  void Push(const v1::PushRequest& request, v1::PushResponse& response,
            Done done);

  absl::Status Pull(const v1::PullRequest& request, v1::PullResponse& response);

  absl::Status Fence(const v1::FenceRequest& request,
                     v1::FenceResponse& response);

  // Waits until admitted pushes are applied, and copies the state while none is
  // admitted. A repeat for the same path answers as the first did.
  absl::Status Snapshot(const v1::SnapshotRequest& request,
                        v1::SnapshotResponse& response);

  // Does not wait: `done` comes from the writing thread.
  void WriteCheckpoint(const v1::WriteCheckpointRequest& request,
                       Checkpointer::Done done);

 private:
  // A push that has no answer yet.
  struct OpenPush {
    const v1::PushRequest* request = nullptr;
    v1::PushResponse* response = nullptr;
    Done done;
  };
  // What is to happen with an open push.
  struct Release {
    OpenPush push;
    Decision decision;
  };
  // Updates between the pull and the push of each gradient.
  struct Staleness {
    uint64_t pushes = 0;
    uint64_t sum = 0;
    uint64_t max = 0;
  };

  // The variables; FailedPrecondition before Initialize. They live as long as
  // the shard.
  absl::StatusOr<ShardVariables*> Ready() const;
  // The same, for a call that is meant for a certain incarnation.
  absl::StatusOr<ShardVariables*> ReadyFor(uint64_t ps_incarnation) const;
  // Takes the pushes that decisions are about out of the open ones.
  std::vector<Release> TakeReleases(std::vector<Decision> decisions)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CarryOut(const std::vector<Release>& releases,
                ShardVariables& variables);
  void Apply(const Decision& decision, const OpenPush& push,
             ShardVariables& variables);
  void LogStaleness() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t incarnation_;
  const DataType type_;

  // Held for the whole of Initialize.
  Mutex initialize_mutex_;
  v1::InitializeRequest initialize_request_ ABSL_GUARDED_BY(initialize_mutex_);
  v1::InitializeResponse initialize_response_
      ABSL_GUARDED_BY(initialize_mutex_);

  mutable Mutex mutex_;
  CondVar applied_;
  // Null until initialised; then never changed.
  std::unique_ptr<ShardVariables> variables_ ABSL_GUARDED_BY(mutex_);
  // Of its part of a checkpoint.
  std::string file_name_ ABSL_GUARDED_BY(mutex_);
  Aggregator aggregator_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  // By ticket.
  std::map<uint64_t, OpenPush> open_pushes_ ABSL_GUARDED_BY(mutex_);
  // Pushes admitted and not yet applied.
  int applying_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Staleness staleness_ ABSL_GUARDED_BY(mutex_);
  // The last snapshot.
  std::string snapshot_path_ ABSL_GUARDED_BY(mutex_);
  int64_t snapshot_step_ ABSL_GUARDED_BY(mutex_) = 0;

  Checkpointer checkpointer_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_H_
