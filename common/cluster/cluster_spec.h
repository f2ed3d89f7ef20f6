// The tasks of a cluster and their addresses.
#ifndef PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_
#define PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/cluster/task.h"

namespace paceline {

// The type with this name in TF_CONFIG; nullopt if there is none.
std::optional<TaskType> TaskTypeFromName(absl::string_view name);

// The names of all types in TF_CONFIG.
std::vector<std::string> TaskTypeNames();

// Addresses of tasks, "host:port". A regular value type.
struct ClusterSpec {
  // By index. Indices need not be consecutive (TensorFlow's sparse form).
  using Tasks = std::map<int, std::string>;

  const Tasks& of(TaskType type) const;
  int count(TaskType type) const { return static_cast<int>(of(type).size()); }
  // nullopt if there is no such task.
  std::optional<std::string> address(TaskId task) const;

  // A type without tasks may be absent or have an empty map.
  std::map<TaskType, Tasks> tasks;
};

// The first task that is, or may be, on another machine; nullopt if all have
// loopback addresses. Ignores evaluators, which connect to nobody.
std::optional<TaskId> FirstBeyondLoopback(const ClusterSpec& cluster);

// The address on which a task listens that others reach at `address`: its port
// on all interfaces. If the whole cluster is on loopback, only that address, so
// that no other machine can connect.
std::string ListenAddress(const ClusterSpec& cluster,
                          const std::string& address);

// The first difference between two clusters: a task that only one has, or that
// has different addresses; as "ps-1 at 10.0.0.2:2222 against ps-1 at
// 10.0.0.3:2222", with that of `a` first. "" if they agree. Ignores evaluators,
// which are no members.
std::string Difference(const ClusterSpec& a, const ClusterSpec& b);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_CLUSTER_SPEC_H_
