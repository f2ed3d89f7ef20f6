#include "common/cluster/cluster_spec.h"

namespace paceline {
namespace {

constexpr TaskType kTypes[] = {TaskType::kChief, TaskType::kWorker,
                               TaskType::kPs, TaskType::kEvaluator};

}  // namespace

std::optional<TaskType> TaskTypeFromName(absl::string_view name) {
  for (const TaskType type : kTypes) {
    if (name == TaskTypeName(type)) return type;
  }
  return std::nullopt;
}

std::vector<std::string> TaskTypeNames() {
  std::vector<std::string> names;
  for (const TaskType type : kTypes) names.push_back(TaskTypeName(type));
  return names;
}

const ClusterSpec::Tasks& ClusterSpec::of(TaskType type) const {
  static const auto& none = *new Tasks();
  const auto found = tasks.find(type);
  return found == tasks.end() ? none : found->second;
}

std::optional<std::string> ClusterSpec::address(TaskId task) const {
  const Tasks& same_type = of(task.type);
  const auto found = same_type.find(task.index);
  if (found == same_type.end()) return std::nullopt;
  return found->second;
}

}  // namespace paceline
