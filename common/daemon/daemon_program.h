// What `worker` and `ps_server` are with --coordinator and without --index.
#ifndef PACELINE_COMMON_DAEMON_DAEMON_PROGRAM_H_
#define PACELINE_COMMON_DAEMON_DAEMON_PROGRAM_H_

#include <string>

#include "absl/status/status.h"
#include "common/daemon/daemon_options.h"
#include "common/task/data_options.h"
#include "common/task/task_program.h"

namespace paceline {

// Runs the daemon that the command line asks for until a signal comes; its
// tasks are the programs beside this one. `get` is std::getenv in main.cc.
// `data`: --data-cache and --data-cache-size, of a worker.
// Errors: those of ResolveDaemonOptions and RunDaemon.
absl::Status RunDaemonProgram(const DaemonFlags& flags,
                              const TaskProgram& program,
                              const std::string& version,
                              char* (*get)(const char* name),
                              const DataOptions& data = {});

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_DAEMON_PROGRAM_H_
