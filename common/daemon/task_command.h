// The process that a task of a daemon is.
#ifndef PACELINE_COMMON_DAEMON_TASK_COMMAND_H_
#define PACELINE_COMMON_DAEMON_TASK_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/daemon/daemon_options.h"
#include "common/daemon/task_book.h"
#include "common/process/child.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Where a task's files are. All paths are absolute.
struct TaskPaths {
  // WORK/jobs/JOB/files: the job's folder, in which its tasks work.
  std::string job_folder;
  // WORK/jobs/JOB/logs/GENERATION, which is beside it, since the job may have
  // files of any name.
  std::string log_folder;
  // LOGS/worker-1.log
  std::string log;
  // LOGS/leader.port: where the leader writes its port.
  std::string port;
  // LOGS/leader.progress: where the leader writes its progress.
  std::string progress;

  // InvalidArgument if the job's id is no safe name.
  static absl::StatusOr<TaskPaths> Of(const std::string& work_folder,
                                      const HeldTask& task);
};

// The process for an order. `host`: where the task listens. `gpus`: the
// indices of the GPUs that it may use. A leader goes on from the latest
// checkpoint in the job's folder, if there is one. InvalidArgument names what
// is wrong with the order; other errors are those of a checkpoint. Blocks on
// the disk.
absl::StatusOr<ChildOptions> CommandFor(const v1::TaskOrder& order,
                                        const HeldTask& task,
                                        const TaskPaths& paths,
                                        const DaemonOptions& options,
                                        const std::string& host,
                                        const std::vector<int>& gpus);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_TASK_COMMAND_H_
