// A cluster of processes on this machine, for one job.
#ifndef PACELINE_COORDINATOR_LOCAL_CLUSTER_H_
#define PACELINE_COORDINATOR_LOCAL_CLUSTER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "common/process/child.h"

namespace paceline {

struct LocalClusterOptions {
  // The job, its overrides and its output folder, for an evaluator.
  std::string job_path;
  std::vector<std::string> overrides;
  std::string output_dir;
  // Where the programs `ps_server` and `worker` are.
  std::string program_folder;
  // Gets <type>-<index>.log of each task; exists.
  std::string log_folder;
  // Of the leader.
  std::string coordinator_address;
  // The job's, as text; each task gets it through a pipe.
  std::string secret;
  std::vector<TaskId> tasks;
};

// The one evaluator of a local cluster.
inline constexpr TaskId kEvaluator = {TaskType::kEvaluator, 0};

// Children end with this process, however it ends. Not thread-safe; to be used
// by the main thread alone (see Child).
class LocalCluster {
 public:
  // Starts all tasks. They take free ports of the loopback interface and tell
  // them to the leader as they register.
  static absl::StatusOr<LocalCluster> Start(const LocalClusterOptions& options);

  // Tasks that ended since the last call, with their exit codes.
  std::vector<std::pair<TaskId, int>> TakeExits();

  // Waits at most `timeout` for all but an evaluator to end, then kills them.
  void Shutdown(absl::Duration timeout);

  // Waits until the evaluator, if there is one, has ended, or `timeout` has
  // passed, or `interrupted` is true; then kills it.
  void ShutdownEvaluator(absl::Duration timeout,
                         const std::function<bool()>& interrupted);

  // The exit code of a task that has ended.
  std::optional<int> exit_code(TaskId task) const;

 private:
  LocalCluster() = default;

  std::map<TaskId, Child> running_;
  std::map<TaskId, int> exit_codes_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_LOCAL_CLUSTER_H_
