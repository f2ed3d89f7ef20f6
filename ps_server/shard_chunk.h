// One chunk of a shard: what is pushed, summed, applied and pulled as a whole.
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

// Updates between the pull and the push of each gradient.
struct Staleness {
  uint64_t pushes = 0;
  uint64_t sum = 0;
  uint64_t max = 0;
};

// Thread-safe. A push is admitted by the aggregator under the chunk's lock and
// applied under the locks of the blocks, so asynchronous pushes to different
// blocks run side by side. Where pushes wait for others, they are applied one
// after the other, so that an answer holds all that it waited for.
class ShardChunk {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `aggregator` was made with `options`.
  ShardChunk(std::unique_ptr<ChunkVariables> variables, Aggregator aggregator,
             AggregatorOptions options);
  // No call may be open.
  ~ShardChunk();

  // As of Shard, for this chunk.
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

  // Under bounded staleness, to be called regularly: time passed. Returns the
  // ranks of workers that nobody waits for any more.
  std::vector<uint32_t> HandleTime(absl::Time now);

  // Bytes of the variables of each block.
  absl::Span<const size_t> block_sizes() const {
    return variables_->block_sizes();
  }

  // Whether nothing is ever pushed.
  bool is_frozen() const { return variables_->is_frozen(); }

  // Of a checkpoint.
  struct Saved {
    int64_t step = 0;
    // What Aggregator::Restore takes.
    std::map<std::string, std::string> workers;
  };
  // Waits until admitted pushes are applied, and appends the variables while
  // none is admitted. DeadlineExceeded.
  absl::StatusOr<Saved> Save(absl::Time deadline,
                             std::vector<SnapshotTensor>& tensors);

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
  // A decision and the push it is about, if there is one; its `done` is set by
  // those that end it.
  struct Step {
    Decision decision;
    OpenPush push;
  };
  // What happens to the aggregator.
  using Event = absl::FunctionRef<std::vector<Decision>(Aggregator&)>;
  // Lets the event happen and carries out what follows from it. A sum is
  // applied with `squared_norms`, where it needs them.
  void Handle(Event event, absl::Span<const double> squared_norms = {});
  // Pushes that end are no longer among the open ones.
  std::vector<Step> Decide(Event event);
  int64_t StepsApplied() const;
  // In this order: applies what is to be applied; where sums are applied apart,
  // fills the answers with norms; and answers, with variables where there are
  // no norms.
  void Update(const std::vector<Step>& steps,
              absl::Span<const double> squared_norms);
  void AnswerNorms(const std::vector<Step>& steps)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(order_mutex_);
  void Answer(const std::vector<Step>& steps);
  // An update that was decided on is done.
  void EndUpdate(uint64_t staleness);

  const std::unique_ptr<ChunkVariables> variables_;
  const AggregatorOptions options_;

  // Where answers wait for others: held from a decision until it is carried
  // out.
  Mutex order_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
  CondVar applied_;
  Aggregator aggregator_ ABSL_GUARDED_BY(mutex_);
  // Of the last sum, where updates need them.
  std::vector<double> squared_norms_ ABSL_GUARDED_BY(order_mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  // By ticket.
  std::map<uint64_t, OpenPush> open_pushes_ ABSL_GUARDED_BY(mutex_);
  // Pushes admitted and not yet applied.
  int applying_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Staleness staleness_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_SHARD_CHUNK_H_
