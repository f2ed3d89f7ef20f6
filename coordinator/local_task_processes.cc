#include "coordinator/local_task_processes.h"

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {

LocalTaskProcesses::LocalTaskProcesses(LocalClusterOptions options,
                                       std::function<bool()> interrupted)
    : options_(std::move(options)), interrupted_(std::move(interrupted)) {}

absl::Status LocalTaskProcesses::Start(int port) {
  RETURN_IF_ERROR(MakeDirectories(options_.log_folder));
  options_.coordinator_address = absl::StrCat("127.0.0.1:", port);
  ASSIGN_OR_RETURN(cluster_, LocalCluster::Start(options_));
  return absl::OkStatus();
}

std::vector<std::pair<TaskId, int>> LocalTaskProcesses::TakeExits() {
  std::vector<std::pair<TaskId, int>> exits = cluster_->TakeExits();
  for (const auto& [task, code] : exits) WarnOfEvaluator(task, code);
  return exits;
}

void LocalTaskProcesses::Shutdown() {
  cluster_->Shutdown(limits::kExitTimeout);
}

void LocalTaskProcesses::ShutdownEvaluator(bool has_succeeded) {
  if (cluster_->exit_code(kEvaluator)) return;
  cluster_->ShutdownEvaluator(
      has_succeeded ? limits::kEvaluatorTimeout : absl::ZeroDuration(),
      interrupted_);
  if (has_succeeded) {
    WarnOfEvaluator(kEvaluator, cluster_->exit_code(kEvaluator).value_or(0));
  }
}

std::optional<int> LocalTaskProcesses::exit_code(TaskId task) const {
  return cluster_->exit_code(task);
}

// The evaluator is no member of the job, which goes on without it.
void LocalTaskProcesses::WarnOfEvaluator(TaskId task, int code) const {
  if (task != kEvaluator || code == 0) return;
  LOG(WARNING) << task.ToString() << " exited with code " << code
               << "; see its log in " << options_.log_folder;
}

}  // namespace paceline
