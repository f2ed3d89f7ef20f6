// A worker that leads its job beside its own work: worker 0 of a cluster
// without a chief, such as a TFJob of ps and workers.
#ifndef PACELINE_WORKER_LEADING_WORKER_H_
#define PACELINE_WORKER_LEADING_WORKER_H_

#include "absl/status/statusor.h"
#include "common/process/interrupt.h"
#include "common/session/leader.h"
#include "worker/worker.h"

namespace paceline {

// Leads and works until the job has ended, and writes its result. Returns the
// exit code of the process, which should end at once: the worker's own thread
// may still wait for somebody who does not answer. Blocks.
absl::StatusOr<int> RunLeadingWorker(LeaderOptions leader_options, bool resume,
                                     WorkerOptions worker_options,
                                     Interrupt& interrupt);

}  // namespace paceline

#endif  // PACELINE_WORKER_LEADING_WORKER_H_
