// Tasks that the leader's process starts on its own machine.
#ifndef PACELINE_COORDINATOR_LOCAL_TASK_PROCESSES_H_
#define PACELINE_COORDINATOR_LOCAL_TASK_PROCESSES_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "common/session/leader/lead_job.h"
#include "coordinator/local_cluster.h"

namespace paceline {

// The tasks of a local cluster, as child processes. Only for the main thread.
class LocalTaskProcesses : public OwnTasks {
 public:
  // `options` without the leader's address. `interrupted` returns whether the
  // user has asked to stop; then nobody waits for the evaluator.
  LocalTaskProcesses(LocalClusterOptions options,
                     std::function<bool()> interrupted);

  absl::Status Start(int port) override;
  std::vector<std::pair<TaskId, int>> TakeExits() override;
  void Shutdown() override;
  void ShutdownEvaluator(bool has_succeeded) override;
  std::optional<int> exit_code(TaskId task) const override;

 private:
  void WarnOfEvaluator(TaskId task, int code) const;

  LocalClusterOptions options_;
  const std::function<bool()> interrupted_;
  std::optional<LocalCluster> cluster_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_LOCAL_TASK_PROCESSES_H_
