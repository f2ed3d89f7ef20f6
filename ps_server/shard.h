// A shard of a job's variables: what a parameter server is, but for the wire.
#ifndef PACELINE_PS_SERVER_SHARD_H_
#define PACELINE_PS_SERVER_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/checkpoint/checkpointer.h"
#include "common/rpc/dense_values.h"
#include "common/tensor/shape.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/aggregator.h"
#include "ps_server/shard_variables.h"

namespace paceline {

// The methods are the calls of ParameterServerService;
// proto/paceline/v1/ps.proto says what they mean. Before Initialize all others
// fail with FailedPrecondition, and so do calls meant for another incarnation.
//
//   EMPTY ── Initialize ──> READY ── Push, Apply, Pull, Fence … ──> READY
//
// Thread-safe. A push is admitted by the aggregator under the shard's lock and
// applied under the locks of the blocks, so asynchronous pushes to different
// blocks run side by side. Where pushes wait for others, they are applied one
// after the other, so that an answer holds all that it waited for.
class Shard {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `incarnation` is that of the process. Variables are float32 or float64.
  explicit Shard(uint64_t incarnation, DataType type = DataType::kFloat32);
  // No call may be open.
  ~Shard();

  absl::Status Initialize(const v1::InitializeRequest& request,
                          v1::InitializeResponse& response);

  // As for PsClient, gradients and variables are no part of the messages:
  // variables are written to places of block_sizes(), where the gradients of
  // the same call may lie. InvalidArgument if these places are others.
  //
  // Calls `done` when response and variables are there: before it returns, or
  // later from the call that releases the push. All arguments stay valid until
  // then.
  void Push(const v1::PushRequest& request,
            absl::Span<const DenseValues> gradients, v1::PushResponse& response,
            absl::Span<DensePlace> places, Done done);

  absl::Status Apply(const v1::ApplyRequest& request,
                     v1::ApplyResponse& response,
                     absl::Span<DensePlace> places);

  absl::Status Pull(const v1::PullRequest& request, v1::PullResponse& response,
                    absl::Span<DensePlace> places);

  // Bytes of the variables of each block; empty before Initialize.
  absl::Span<const size_t> block_sizes() const;

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
    absl::Span<const DenseValues> gradients;
    v1::PushResponse* response = nullptr;
    absl::Span<DensePlace> variables;
    Done done;
  };
  // A decision and the push it is about, if there is one; its `done` is set by
  // those that end it.
  struct Step {
    Decision decision;
    OpenPush push;
  };
  // What happens to the aggregator.
  using Event = absl::FunctionRef<std::vector<Decision>(Aggregator&)>;
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
  // Lets the event happen and carries out what follows from it. A sum is
  // applied with `squared_norms`, where it needs them.
  void Handle(Event event, ShardVariables& variables,
              absl::Span<const double> squared_norms = {});
  // Pushes that end are no longer among the open ones.
  std::vector<Step> Decide(Event event);
  v1::Consistency consistency() const;
  int64_t StepsApplied() const;
  // In this order: applies what is to be applied; where sums are applied apart,
  // fills the answers with norms; and answers, with variables where there are
  // no norms.
  void Update(const std::vector<Step>& steps,
              absl::Span<const double> squared_norms,
              ShardVariables& variables);
  void AnswerNorms(const std::vector<Step>& steps,
                   const ShardVariables& variables)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(order_mutex_);
  void Answer(const std::vector<Step>& steps, ShardVariables& variables);
  // An update that was decided on is done.
  void EndUpdate(uint64_t staleness);
  void LogStaleness() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t incarnation_;
  const DataType type_;

  // Held for the whole of Initialize.
  Mutex initialize_mutex_;
  v1::InitializeRequest initialize_request_ ABSL_GUARDED_BY(initialize_mutex_);
  v1::InitializeResponse initialize_response_
      ABSL_GUARDED_BY(initialize_mutex_);

  // Where answers wait for others: held from a decision until it is carried
  // out.
  Mutex order_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
  CondVar applied_;
  // Null until initialised; then never changed.
  std::unique_ptr<ShardVariables> variables_ ABSL_GUARDED_BY(mutex_);
  // Of its part of a checkpoint.
  std::string file_name_ ABSL_GUARDED_BY(mutex_);
  AggregatorOptions options_ ABSL_GUARDED_BY(mutex_);
  Aggregator aggregator_ ABSL_GUARDED_BY(mutex_);
  // Of the last sum, where updates need them.
  std::vector<double> squared_norms_ ABSL_GUARDED_BY(order_mutex_);
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
