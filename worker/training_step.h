// A step of training on one replica, up to the hand-over of its gradients.
#ifndef PACELINE_WORKER_TRAINING_STEP_H_
#define PACELINE_WORKER_TRAINING_STEP_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "worker/device/device.h"
#include "worker/strategy/strategy.h"

namespace paceline {

// Runs the sections of `program`, whose batch is set, and gives the strategy
// each bucket once its gradients are ready, and once more when it is final,
// between the sections that are still to be enqueued: so the first travel while
// the last are computed, on devices that compute as they are called too. Blocks
// until all are handed over, not for sections that hand nothing over; `worked`
// is called for each section. Does not allocate.
absl::Status RunSections(Program& program, Stream& stream, Strategy& strategy,
                         absl::FunctionRef<void()> worked);

}  // namespace paceline

#endif  // PACELINE_WORKER_TRAINING_STEP_H_
