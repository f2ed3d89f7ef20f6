#include "common/cluster/cluster_spec.h"

#include "absl/strings/str_cat.h"
#include "common/cluster/address.h"

namespace paceline {
namespace {

constexpr TaskType kTypes[] = {TaskType::kChief, TaskType::kWorker,
                               TaskType::kPs, TaskType::kEvaluator};

std::string Describe(TaskId task, const std::optional<std::string>& address) {
  return address ? TaskName(task, *address)
                 : absl::StrCat("no ", task.ToString());
}

}  // namespace

std::optional<TaskType> TaskTypeFromName(absl::string_view name) {
  for (const TaskType type : kTypes) {
    if (name == TaskTypeName(type)) return type;
  }
  return std::nullopt;
}

std::optional<TaskId> FirstBeyondLoopback(const ClusterSpec& cluster) {
  for (const auto& [type, tasks] : cluster.tasks) {
    if (type == TaskType::kEvaluator) continue;
    for (const auto& [index, address] : tasks) {
      const absl::StatusOr<Address> parsed = ParseAddress(address);
      if (!parsed.ok() || !IsLoopback(*parsed)) return TaskId{type, index};
    }
  }
  return std::nullopt;
}

std::string ListenAddress(const ClusterSpec& cluster,
                          const std::string& address) {
  if (!FirstBeyondLoopback(cluster)) return address;
  return absl::StrCat("[::]", address.substr(address.rfind(':')));
}

std::string Difference(const ClusterSpec& a, const ClusterSpec& b) {
  for (const TaskType type : kTypes) {
    if (type == TaskType::kEvaluator) continue;
    for (const ClusterSpec* cluster : {&a, &b}) {
      for (const auto& [index, address] : cluster->of(type)) {
        const TaskId task = {type, index};
        if (a.address(task) == b.address(task)) continue;
        return absl::StrCat(Describe(task, a.address(task)), " against ",
                            Describe(task, b.address(task)));
      }
    }
  }
  return "";
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
