// The all-reduce strategy: every replica holds all variables; an all-reduce
// sums gradients, and each replica applies the same update.
//
//   trainer   section 1 │ section 2 │ section 3 │ EndStep: last bucket, update
//   reducer             │ bucket 0  │ bucket 1  │
//
// Buckets are reduced in the order of the plan, which all replicas share, on a
// thread of the strategy while backward goes on. The trainer's thread reduces
// the last bucket itself, since nothing is left to overlap with.
//
// A replica's gradients are those of the sum of losses over its slice, divided
// by the number of examples in the global batch. So the sum over replicas is
// the gradient of the mean loss.
#ifndef PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_
#define PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/sharding/bucket_layout.h"
#include "common/sharding/shard_plan.h"
#include "worker/collective/collectives.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"
#include "worker/trace/replica_trace.h"

namespace paceline {

struct AllReduceOptions {
  // The encoding of gradients in messages.
  WireType wire = WireType::kNative;
  // How summed gradients are clipped before the update.
  Clipping clipping;
  // Called with what the strategy waits for, and with "" when the wait ends.
  std::function<void(const std::string&)> on_waiting;
  // What the replica records; null: nothing.
  ReplicaTrace* trace = nullptr;
};

class AllReduceStrategy : public Strategy {
 public:
  // All references must outlive the strategy. `transport` must be used by this
  // strategy only.
  AllReduceStrategy(AllReduceOptions options, Transport& transport,
                    const ShardPlan& plan, LocalVariables& variables,
                    ModelState& state, Stream& stream);
  // Waits for a reduction that is under way; abort the transport to end it at
  // once.
  ~AllReduceStrategy() override;

  absl::Status PullVariables() override;
  absl::Status BeginLease(std::optional<double> learning_rate) override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  // Runs on the reducer thread.
  void Run();
  absl::Status Reduce(int bucket);
  // Applies the summed gradients.
  void Update();
  // Blocks until the reducer is idle.
  absl::Status AwaitReducer();

  const AllReduceOptions options_;
  const BucketLayout& layout_;
  LocalVariables& variables_;
  ModelState& state_;
  Stream& stream_;
  // Used by the reducer while it has work, otherwise by the trainer's thread.
  Collectives collectives_;
  GradientClipper clipper_;
  const std::string waiting_;
  // Of the trainer's thread, and of whichever thread reduces. Null: nothing is
  // recorded.
  TraceLane* const lane_;
  TraceLane* const reduce_lane_;
  // Of the current lease.
  std::optional<double> learning_rate_;

  // By bucket: whether its gradients are ready in this step; and the first
  // bucket that was not passed to the reducer.
  std::vector<bool> is_ready_;
  size_t next_bucket_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::deque<int> queue_ ABSL_GUARDED_BY(mutex_);
  // Buckets that were passed to the reducer and are not reduced yet.
  int pending_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread reducer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_
