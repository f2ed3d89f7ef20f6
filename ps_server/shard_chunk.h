// A chunk of a shard: the unit in which gradients are pushed, summed and
// applied, and variables are pulled.
#ifndef PACELINE_PS_SERVER_SHARD_CHUNK_H_
#define PACELINE_PS_SERVER_SHARD_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/checkpoint/checkpointer.h"
#include "common/rpc/dense_values.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/aggregator.h"
#include "ps_server/chunk_variables.h"

namespace paceline {

// How many updates lie between the pull and the push of each gradient.
struct Staleness {
  uint64_t pushes = 0;
  uint64_t sum = 0;
  uint64_t max = 0;
};

// Thread-safe. The aggregator decides on a push under the chunk's lock; the
// gradients are applied under the locks of the blocks. So asynchronous pushes
// update different blocks in parallel. If answers wait for other pushes,
// decisions are carried out one after the other, so that an answer includes all
// updates for which it waited.
class ShardChunk {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `aggregator` must have been created with `options`.
  ShardChunk(std::unique_ptr<ChunkVariables> variables, Aggregator aggregator,
             AggregatorOptions options);
  // All calls must have ended.
  ~ShardChunk();

  // As the methods of Shard, for this chunk.
  void Push(const v1::PushRequest& request,
            absl::Span<const DenseValues> gradients, v1::PushResponse& response,
            absl::Span<DenseBuffer> buffers, Done done);
  absl::Status Apply(const v1::ApplyRequest& request,
                     v1::ApplyResponse& response,
                     absl::Span<DenseBuffer> buffers);
  absl::Status Pull(const v1::PullRequest& request, v1::PullResponse& response,
                    absl::Span<DenseBuffer> buffers);
  absl::Status Admit(const v1::WorkerId& worker);
  void Fence(const v1::WorkerId& worker, v1::FenceResponse& response);

  // Time passed. Under bounded staleness, call it regularly. Returns the ranks
  // of workers for which the others no longer wait.
  std::vector<uint32_t> HandleTime(absl::Time now);

  // Bytes of each block's variables.
  absl::Span<const size_t> block_sizes() const {
    return variables_->block_sizes();
  }

  // Whether the variables are frozen, so that nothing is pushed.
  bool is_frozen() const { return variables_->is_frozen(); }

  // The chunk's part of a checkpoint.
  struct Saved {
    int64_t step = 0;
    // The input of Aggregator::Restore.
    std::map<std::string, std::string> workers;
  };
  // Blocks until admitted pushes are applied, and appends the variables and
  // slots to `tensors` while no push is admitted. DeadlineExceeded.
  absl::StatusOr<Saved> Save(absl::Time deadline,
                             std::vector<SnapshotTensor>& tensors);

  // Blocks until admitted pushes are applied, and loads the variables while no
  // push is admitted. DeadlineExceeded, or the errors of CheckpointReader.
  absl::Status Load(absl::Time deadline, CheckpointReader& checkpoint);

  // The same for ChunkVariables::SwapAverages. DeadlineExceeded: nothing is
  // swapped.
  absl::Status SwapAverages(absl::Time deadline);
  bool has_averages() const { return variables_->has_averages(); }

  // See ChunkVariables.
  const std::vector<StoredVariable>& stored_variables() const {
    return variables_->stored_variables();
  }

  Staleness staleness() const;

 private:
  // A push that has no answer yet.
  struct OpenPush {
    const v1::PushRequest* request = nullptr;
    absl::Span<const DenseValues> gradients;
    v1::PushResponse* response = nullptr;
    absl::Span<DenseBuffer> variables;
    Done done;
  };
  // A decision and its push, if it has one. `done` is set if the decision ends
  // the push.
  struct Step {
    PushDecision decision;
    OpenPush push;
  };
  // An event for the aggregator.
  using Event = absl::FunctionRef<std::vector<PushDecision>(Aggregator&)>;
  // Passes the event to the aggregator and carries out its decisions.
  // `squared_norms` are for applying a sum, if that needs norms.
  void Handle(Event event, absl::Span<const double> squared_norms = {});
  // Asks the aggregator, and removes the pushes that end from the open ones.
  std::vector<Step> Decide(Event event);
  // Blocks until admitted pushes are applied. DeadlineExceeded.
  absl::Status AwaitApplied(absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t StepsApplied() const;
  // Carries out the decisions: first applies gradients, then fills answers with
  // norms (if a sum waits for Apply) or variables, then sends the answers.
  void Update(const std::vector<Step>& steps,
              absl::Span<const double> squared_norms);
  void AnswerNorms(const std::vector<Step>& steps)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(order_mutex_);
  void Answer(const std::vector<Step>& steps);
  // One update is applied.
  void EndUpdate(uint64_t staleness);

  const std::unique_ptr<ChunkVariables> variables_;
  const AggregatorOptions options_;

  // Where answers wait for other pushes: locked from a decision until it is
  // carried out.
  Mutex order_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
  CondVar applied_;
  Aggregator aggregator_ ABSL_GUARDED_BY(mutex_);
  // The norms of the last sum, if the optimizer needs norms.
  std::vector<double> squared_norms_ ABSL_GUARDED_BY(order_mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  // By ticket.
  std::map<uint64_t, OpenPush> open_pushes_ ABSL_GUARDED_BY(mutex_);
  // Pushes admitted, but not applied yet.
  int applying_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Staleness staleness_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_CHUNK_H_
