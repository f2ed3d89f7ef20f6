// How the gradients of replicas meet.
//
// The trainer hands over buckets as backward's sections end, and gets variables
// back; it knows nothing of rings or servers:
//
//   strategy.PullVariables()              variables are current
//   strategy.BeginLease()
//   strategy.BeginStep(position, is_last)
//   for each section …
//     strategy.GradientsReady(bucket)     gradients may travel
//     strategy.BucketFinal(bucket)        and variables may be overwritten
//   strategy.EndStep(progress)            variables are those of the next step
#ifndef PACELINE_WORKER_STRATEGY_STRATEGY_H_
#define PACELINE_WORKER_STRATEGY_STRATEGY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/ps.pb.h"
#include "worker/device/device.h"

namespace paceline {

// Not thread-safe: called by the trainer's thread. Calls that wait have
// deadlines, and their errors name the task and address that did not answer.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Brings the current variables to the device: before the first step, and
  // before an evaluation.
  virtual absl::Status PullVariables() = 0;

  // Steps of training follow, the last of them with `ends_lease`: until then
  // others may wait for this worker's.
  virtual absl::Status BeginLease() { return absl::OkStatus(); }

  // A step follows. `position` is how far the worker is with its leases once
  // the step counts, without a sequence and without sums, which are not known
  // yet. `ends_lease`: it is the last of its lease. Does not wait.
  virtual void BeginStep(const v1::Progress& /*position*/,
                         bool /*ends_lease*/) {}

  // The gradients of a bucket are complete in host memory; later sections may
  // still read its variables. Does not wait.
  virtual absl::Status GradientsReady(int bucket) = 0;

  // Nor does any later section of the step read its variables in the host's
  // memory. Called once for each bucket that steps update, after
  // GradientsReady. Does not wait.
  virtual void BucketFinal(int /*bucket*/) {}

  // All gradients of the step were handed over. Waits until they are applied
  // and the variables of the next step are on the device; not where the device
  // updates. `progress` is the position with its sums.
  // Returns the number of the step at the strategy, from 1.
  virtual absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) = 0;
};

// Brings the host's variables to the device: of the first buckets, so many.
inline absl::Status UploadBuckets(size_t count, ModelState& state,
                                  Stream& stream) {
  for (size_t bucket = 0; bucket < count; ++bucket) {
    RETURN_IF_ERROR(state.UploadVariables(static_cast<int>(bucket), stream));
  }
  return absl::OkStatus();
}
// Of all.
inline absl::Status UploadAll(const ShardPlan& plan, ModelState& state,
                              Stream& stream) {
  return UploadBuckets(plan.buckets().size(), state, stream);
}
// Of those that steps update.
inline absl::Status UploadUpdated(const ShardPlan& plan, ModelState& state,
                                  Stream& stream) {
  return UploadBuckets(plan.updated_buckets().size(), state, stream);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGY_H_
