// One training step of a replica, until all its gradients were passed to the
// strategy.
#ifndef PACELINE_WORKER_TRAINING_STEP_H_
#define PACELINE_WORKER_TRAINING_STEP_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "worker/device/device.h"
#include "worker/strategy/strategy.h"
#include "worker/trace/trace_recorder.h"

namespace paceline {

// Enqueues the sections of `program`, whose batch must be set. As soon as a
// bucket's gradients are ready, passes the bucket to the strategy, and again
// when it is final, before it enqueues the remaining sections. So the first
// buckets travel while the last are computed, even if the device computes
// synchronously. Blocks until all buckets were passed on, but does not wait for
// sections without buckets. Calls `worked` for each section. `lane`: null, or
// gets what is done. Does not allocate without a lane.
absl::Status RunSections(Program& program, Stream& stream, Strategy& strategy,
                         absl::FunctionRef<void()> worked,
                         TraceLane* lane = nullptr);

}  // namespace paceline

#endif  // PACELINE_WORKER_TRAINING_STEP_H_
