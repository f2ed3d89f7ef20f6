// What a task of a cluster does in a job.
#ifndef PACELINE_COMMON_CLUSTER_ROLE_H_
#define PACELINE_COMMON_CLUSTER_ROLE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/cluster/tf_config.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {

struct Role {
  // Whether the task leads: validates, hands out data, writes the result. Under
  // parameter servers that is the chief, which only coordinates; in a cluster
  // of workers the chief, which trains too. Without a chief it is worker 0.
  bool leads = false;
  // Whether it leads parameter servers and does nothing else.
  bool is_ps_coordinator = false;
  // Its position among those that train; none for a ps, an evaluator and a
  // chief that only coordinates.
  std::optional<int> rank;
  // How many train; unknown in the dynamic dialect and to an evaluator without
  // a cluster.
  std::optional<int> world_size;
};

// The task that leads; nothing if the cluster has neither chief nor worker.
std::optional<TaskId> LeaderOf(const ClusterSpec& cluster);

// InvalidArgument if the cluster does not fit the strategy: one with parameter
// servers needs a ps and a worker, others have no ps and need a worker or
// chief.
absl::StatusOr<Role> ResolveRole(const TfConfig& config,
                                 const StrategyTraits& strategy);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_ROLE_H_
