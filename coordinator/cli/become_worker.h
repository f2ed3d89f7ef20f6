// `coordinator predict` and `coordinator data`, which need what only `worker`
// has: devices, and batches.
#ifndef PACELINE_COORDINATOR_CLI_BECOME_WORKER_H_
#define PACELINE_COORDINATOR_CLI_BECOME_WORKER_H_

#include <string>

#include "absl/status/status.h"

namespace paceline {

// Replaces this program by the `worker` in `program_folder`, with the same
// command line, which worker knows too. Returns only on an error.
absl::Status BecomeWorker(const std::string& program_folder, char** argv);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_BECOME_WORKER_H_
