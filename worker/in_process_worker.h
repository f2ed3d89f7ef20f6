// A worker that leads its job beside its own work: worker 0 of a cluster
// without a chief, such as a TFJob of ps and workers.
#ifndef PACELINE_WORKER_IN_PROCESS_WORKER_H_
#define PACELINE_WORKER_IN_PROCESS_WORKER_H_

#include <utility>

#include "absl/status/status.h"
#include "common/session/lead_job.h"
#include "worker/worker.h"

namespace paceline {

// The worker of a process that leads, on a thread of its own. That thread may
// still wait for somebody who does not answer when the job is over, so the
// process should end at once then.
class InProcessWorker : public OwnTasks {
 public:
  explicit InProcessWorker(WorkerOptions options)
      : options_(std::move(options)) {}

  absl::Status Start(int port) override;

 private:
  const WorkerOptions options_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_IN_PROCESS_WORKER_H_
