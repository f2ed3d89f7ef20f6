#include "common/cluster/role.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// "a or b".
std::string StrategiesWithParameterServers() {
  std::vector<std::string> names;
  for (const StrategyTraits& strategy : Strategies()) {
    if (strategy.has_parameter_servers()) names.push_back(strategy.name);
  }
  return absl::StrJoin(names, " or ");
}

// If TF_CONFIG does not list all tasks, there is nothing to check.
absl::Status CheckFits(const TfConfig& config, const StrategyTraits& strategy) {
  const ClusterSpec& cluster = config.cluster;
  const bool is_told_of_none =
      config.task.type == TaskType::kEvaluator && cluster.tasks.empty();
  if (config.is_dynamic || is_told_of_none) return absl::OkStatus();
  const int ps_count = cluster.count(TaskType::kPs);
  const int worker_count = cluster.count(TaskType::kWorker);
  if (strategy.has_parameter_servers()) {
    if (ps_count > 0 && worker_count > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "TF_CONFIG: cluster.", ps_count == 0 ? "ps" : "worker", ": strategy ",
        strategy.name, " needs at least 1 address, got 0"));
  }
  if (ps_count > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TF_CONFIG: cluster.ps: only strategy ",
                     StrategiesWithParameterServers(),
                     " has parameter servers; expected none, got ", ps_count));
  }
  if (worker_count == 0 && cluster.count(TaskType::kChief) == 0) {
    return absl::InvalidArgumentError(
        "TF_CONFIG: cluster.worker: expected at least 1 address, got 0");
  }
  return absl::OkStatus();
}

// The position of a task among the tasks of its type.
int PositionOf(const ClusterSpec& cluster, TaskId task) {
  const ClusterSpec::Tasks& tasks = cluster.of(task.type);
  return static_cast<int>(
      std::distance(tasks.begin(), tasks.lower_bound(task.index)));
}

}  // namespace

std::optional<TaskId> LeaderOf(const ClusterSpec& cluster) {
  for (const TaskType type : {TaskType::kChief, TaskType::kWorker}) {
    const ClusterSpec::Tasks& tasks = cluster.of(type);
    if (!tasks.empty()) return TaskId{type, tasks.begin()->first};
  }
  return std::nullopt;
}

absl::StatusOr<Role> ResolveRole(const TfConfig& config,
                                 const StrategyTraits& strategy) {
  RETURN_IF_ERROR(CheckFits(config, strategy));
  const bool has_parameter_servers = strategy.has_parameter_servers();
  const ClusterSpec& cluster = config.cluster;
  const TaskId task = config.task;
  Role role;
  if (config.is_dynamic) {
    // TF_CONFIG does not list the other tasks, so the task's own type and index
    // decide.
    role.leads = task.type == TaskType::kChief ||
                 (task.type == TaskType::kWorker && task.index == 0);
  } else {
    role.leads = LeaderOf(cluster) == task;
  }
  role.is_ps_coordinator =
      has_parameter_servers && task.type == TaskType::kChief;
  // A chief that trains comes before the workers.
  const int training_chiefs =
      has_parameter_servers ? 0 : cluster.count(TaskType::kChief);
  if (task.type == TaskType::kWorker) {
    role.rank = training_chiefs +
                (config.is_dynamic ? task.index : PositionOf(cluster, task));
  } else if (task.type == TaskType::kChief && !has_parameter_servers) {
    role.rank = 0;
  }
  if (!config.is_dynamic && LeaderOf(cluster)) {
    role.world_size = training_chiefs + cluster.count(TaskType::kWorker);
  }
  return role;
}

}  // namespace paceline
