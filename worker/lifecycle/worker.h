// The life of a worker, from its registration to its end.
#ifndef PACELINE_WORKER_LIFECYCLE_WORKER_H_
#define PACELINE_WORKER_LIFECYCLE_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "common/session/member/member.h"

namespace paceline {

struct WorkerOptions {
  MemberOptions member;
  // "host:port" on which to listen for other workers; port 0 picks a free port.
  std::string listen_address;
  // Number of compute threads, at least 1.
  int threads = 1;
};

// Joins the leader's job, trains or evaluates until the job is over, and
// leaves. Blocks. Returned errors were reported to the leader. OK if the leader
// ended the job.
absl::Status RunWorker(const WorkerOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_WORKER_H_
