// The in-process worker of a task that leads its job and trains, too: worker 0
// of a cluster without a chief, such as a TFJob of ps and workers.
#ifndef PACELINE_WORKER_LIFECYCLE_IN_PROCESS_WORKER_H_
#define PACELINE_WORKER_LIFECYCLE_IN_PROCESS_WORKER_H_

#include <utility>

#include "absl/status/status.h"
#include "common/session/leader/lead_job.h"
#include "worker/lifecycle/worker.h"

namespace paceline {

// Runs a worker on a separate thread of the leader's process. When the job is
// over, that thread may still wait for a task that does not answer, so the
// process should exit at once.
class InProcessWorker : public OwnTasks {
 public:
  explicit InProcessWorker(WorkerOptions options)
      : options_(std::move(options)) {}

  absl::Status Start(int port) override;

 private:
  const WorkerOptions options_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_IN_PROCESS_WORKER_H_
