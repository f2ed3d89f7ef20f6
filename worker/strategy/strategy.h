// How replicas combine their gradients.
//
// The trainer passes buckets to the strategy as sections of backward end, and
// gets variables back; it does not know about rings or servers:
//
//   strategy.PullVariables()              variables are current
//   strategy.BeginLease(learning_rate)
//   strategy.BeginStep(position, is_last)
//   for each section …
//     strategy.GradientsReady(bucket)     gradients may travel
//     strategy.BucketFinal(bucket)        and variables may be overwritten
//   strategy.EndStep(progress)            variables are those of the next step
#ifndef PACELINE_WORKER_STRATEGY_STRATEGY_H_
#define PACELINE_WORKER_STRATEGY_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/sharding/bucket_layout.h"
#include "paceline/v1/ps.pb.h"
#include "worker/device/device.h"

namespace paceline {

// Not thread-safe: for the trainer's thread. Calls that block have deadlines,
// and their errors name the task and the address that did not answer.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Copies the current variables to the device. Call it before the first step
  // and before an evaluation, when all steps are applied. Blocks.
  virtual absl::Status PullVariables() = 0;

  // Training steps follow, the last of them with `ends_lease`. Until then other
  // workers may have to wait for this one. `learning_rate` is that of these
  // steps on all replicas; nullopt: that of the optimizer's schedule. If the
  // device updates, it gets the rate with each batch.
  virtual absl::Status BeginLease(std::optional<double> learning_rate) = 0;

  // A step follows. `position` is the worker's progress with its leases
  // including this step, without a sequence number and without sums, which are
  // not known yet. `ends_lease`: it is the last step of its lease. Does not
  // block.
  virtual void BeginStep(const v1::Progress& /*position*/,
                         bool /*ends_lease*/) {}

  // The gradients of a bucket are complete in host memory. Later sections may
  // still read its variables. Does not block.
  virtual absl::Status GradientsReady(int bucket) = 0;

  // No later section of the step reads the bucket's variables in host memory,
  // so they may be overwritten. Called once for each updated bucket, after
  // GradientsReady. Does not block.
  virtual void BucketFinal(int /*bucket*/) {}

  // Of EndStep: the gradients are under way, and will be applied by the end of
  // the next one. Not returned for the last step of a lease.
  static constexpr int64_t kNotAppliedYet = 0;
  // The step has no further gradients. Blocks until they are applied, or those
  // of the step before are (see kNotAppliedYet), and the next step's variables
  // are on the device; does not block if the device updates. `progress` is the
  // position with its sums. Returns the number of the step in the strategy's
  // count, from 1, or kNotAppliedYet.
  virtual absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) = 0;
  // After EndStep: the number of the step before, if that was not applied when
  // it ended.
  virtual std::optional<int64_t> late_step() const { return std::nullopt; }
};

// Copies the variables of the first `count` buckets from host memory to the
// device.
inline absl::Status UploadBuckets(size_t count, ModelState& state,
                                  Stream& stream) {
  for (size_t bucket = 0; bucket < count; ++bucket) {
    RETURN_IF_ERROR(state.UploadVariables(static_cast<int>(bucket), stream));
  }
  return absl::OkStatus();
}
// Copies all variables.
inline absl::Status UploadAll(const BucketLayout& layout, ModelState& state,
                              Stream& stream) {
  return UploadBuckets(layout.buckets().size(), state, stream);
}
// Copies the variables that steps update.
inline absl::Status UploadUpdated(const BucketLayout& layout, ModelState& state,
                                  Stream& stream) {
  return UploadBuckets(layout.updated_buckets().size(), state, stream);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGY_H_
