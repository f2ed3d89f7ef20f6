// A daemon of a service: holds the tasks that the coordinator wants it to hold.
//
//   coordinator <── Sync ──> Daemon ── TaskBook: what to start and to end
//               <── logs ──┐   │
//               <─ outputs ┤   └────── TaskProcesses: one process a task
//               ── files ─>┴ JobCourier, one a start of a job
#ifndef PACELINE_COMMON_DAEMON_DAEMON_H_
#define PACELINE_COMMON_DAEMON_DAEMON_H_

#include <functional>

#include "absl/status/status.h"
#include "common/daemon/daemon_options.h"

namespace paceline {

// Runs a daemon until a signal: `is_signalled` says whether one has come since
// the last call. Then its tasks are ended, and it returns OK once the
// coordinator has their logs, outputs and ends, after 25 s (3 s if it is away
// and no task runs), or at a second signal. A coordinator that is not there is
// waited for: its tasks go on.
//
// Errors: FailedPrecondition if a later daemon has its name, or another process
// uses its folder; that of a folder that cannot be made. Its tasks are killed.
// Call it on the main thread.
absl::Status RunDaemon(const DaemonOptions& options,
                       const std::function<bool()>& is_signalled);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_DAEMON_H_
