// Every replica holds all variables; gradients are summed by all-reduce, and
// each replica applies the same update to the same values.
//
//   trainer   section 1 │ section 2 │ section 3 │ EndStep: last bucket, update
//   reducer             │ bucket 0  │ bucket 1  │
//
// Buckets are reduced in the order of the plan, which all replicas share, on a
// thread of the strategy's own while backward goes on. The last one, with which
// there is nothing left to overlap, is reduced by the trainer's thread itself.
//
// The gradients of a replica are those of the sum of the losses of its slice,
// divided by the examples of the global batch, so their sum is the gradient of
// the mean.
#ifndef PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_
#define PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/sharding/shard_plan.h"
#include "worker/collective/collectives.h"
#include "worker/strategy/gradient_clipper.h"
#include "worker/strategy/local_variables.h"
#include "worker/strategy/strategy.h"

namespace paceline {

struct AllReduceOptions {
  // How gradients travel.
  WireType wire = WireType::kNative;
  // What the sums are clipped by before the update.
  Clipping clipping;
  // Told what the strategy waits for, and "" when it no longer does.
  std::function<void(const std::string&)> on_waiting;
};

class AllReduceStrategy : public Strategy {
 public:
  // The references outlive the strategy; the transport is used by it alone.
  AllReduceStrategy(AllReduceOptions options, Transport& transport,
                    const ShardPlan& plan, LocalVariables& variables,
                    ModelState& state, Stream& stream);
  // Waits for a reduction under way; abort the transport to end that at once.
  ~AllReduceStrategy() override;

  absl::Status PullVariables() override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  // On the reducer thread.
  void Run();
  absl::Status Reduce(int bucket);
  // Waits until the reducer has nothing left to do.
  absl::Status AwaitReducer();

  const AllReduceOptions options_;
  const ShardPlan& plan_;
  LocalVariables& variables_;
  ModelState& state_;
  Stream& stream_;
  // Of the reducer while it has work, else of the trainer.
  Collectives collectives_;
  GradientClipper clipper_;
  const std::string waiting_;

  // By bucket, whether its gradients are ready in this step; and the first
  // that was not given to the reducer.
  std::vector<bool> is_ready_;
  size_t next_bucket_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::deque<int> queue_ ABSL_GUARDED_BY(mutex_);
  // Buckets handed to the reducer and not reduced yet.
  int pending_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread reducer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_ALL_REDUCE_H_
