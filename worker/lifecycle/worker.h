// The life of a worker, from its registration to its end.
#ifndef PACELINE_WORKER_LIFECYCLE_WORKER_H_
#define PACELINE_WORKER_LIFECYCLE_WORKER_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/base/read_fence.h"
#include "common/process/leave_order.h"
#include "common/remote_file/remote_files.h"
#include "common/session/member/member.h"

namespace paceline {

struct WorkerOptions {
  MemberOptions member;
  // "host:port" on which to listen for other workers; port 0 picks a free port.
  std::string listen_address;
  // Number of compute threads, at least 1.
  int threads = 1;
  // For what opens the job's files, the cache of those by URL included.
  ReadFence fence;
  // How data that the job names by URLs is fetched.
  RemoteFilesOptions data;
  // Asks the worker to leave; must outlive RunWorker. Null: nobody asks.
  LeaveOrder* leave = nullptr;
};

enum class WorkerEnd {
  // The leader ended the job.
  kJobEnded,
  // The worker was asked to leave. The job goes on without it.
  kLeft,
};

// Joins the leader's job, trains or evaluates until the job is over, with all
// its phases, and leaves. Blocks. Errors were reported to the leader.
//
// Asked to leave, a worker with leases of its own finishes its step, reports
// what it did, and gives the rest of its leases back. If the others cannot go
// on without it, it works on until the leader ends the job. Before the start it
// leaves at once and ends the process.
absl::StatusOr<WorkerEnd> RunWorker(const WorkerOptions& options);

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_WORKER_H_
