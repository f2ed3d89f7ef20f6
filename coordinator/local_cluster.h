// The processes of a local cluster, for one job.
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
#include "common/task/data_options.h"
#include "common/tls/tls_files.h"

namespace paceline {

struct LocalClusterOptions {
  // The job file, its overrides and its output folder, for an evaluator.
  std::string job_path;
  std::vector<std::string> overrides;
  std::string output_dir;
  // The folder of the programs `ps_server` and `worker`.
  std::string program_folder;
  // An existing folder; each task logs to <type>-<index>.log there.
  std::string log_folder;
  // The leader's "host:port".
  std::string coordinator_address;
  // The job's secret as text; each task gets it through a pipe.
  std::string secret;
  // With which each task is started, too.
  TlsFiles tls;
  DataOptions data;
  // Folders for --may_read of an evaluator.
  std::vector<std::string> may_read;
  std::vector<TaskId> tasks;
};

// The one evaluator of a local cluster.
inline constexpr TaskId kEvaluator = {TaskType::kEvaluator, 0};

// The children end when this process ends, in whatever way. Not thread-safe;
// only for the main thread (see Child).
class LocalCluster {
 public:
  // Starts all tasks. Each picks a free port on loopback, and reports it to the
  // leader when it registers.
  static absl::StatusOr<LocalCluster> Start(const LocalClusterOptions& options);

  // Tasks that ended since the last call, with their exit codes.
  std::vector<std::pair<TaskId, int>> TakeExits();

  // Blocks for at most `timeout` until all tasks but the evaluator have ended,
  // then kills the rest.
  void Shutdown(absl::Duration timeout);

  // Blocks until the evaluator, if there is one, has ended, `timeout` has
  // passed, or `interrupted` returns true; then kills it.
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
