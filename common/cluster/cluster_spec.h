// Which tasks a cluster has, and where.
#ifndef PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_
#define PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/cluster/task.h"

namespace paceline {

// The type that TF_CONFIG writes so; nothing if there is none.
std::optional<TaskType> TaskTypeFromName(absl::string_view name);

// The names of all types, as TF_CONFIG writes them.
std::vector<std::string> TaskTypeNames();

// Addresses of tasks, "host:port". A regular value type.
struct ClusterSpec {
  // By index, which need not be consecutive (TensorFlow's sparse form).
  using Tasks = std::map<int, std::string>;

  const Tasks& of(TaskType type) const;
  int count(TaskType type) const { return static_cast<int>(of(type).size()); }
  // Nothing if there is no such task.
  std::optional<std::string> address(TaskId task) const;

  // Types without tasks may be there, or not.
  std::map<TaskType, Tasks> tasks;
};

// The first task that is on another machine, or may be; none if all are reached
// at loopback addresses. An evaluator, which speaks to nobody, does not matter.
std::optional<TaskId> FirstBeyondLoopback(const ClusterSpec& cluster);

// The first task that the clusters have not both, or not at one address, as
// "ps-1 at 10.0.0.2:2222 against ps-1 at 10.0.0.3:2222", `a` first; "" if they
// agree. An evaluator, which is no peer, does not matter.
std::string Difference(const ClusterSpec& a, const ClusterSpec& b);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_
