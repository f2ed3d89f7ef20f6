// The role of a task in a job.
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
  // Whether the task leads the job: assigns data, takes checkpoints, writes the
  // result. With parameter servers this is the chief, which only coordinates;
  // in a cluster of workers the chief, which also trains. Without a chief it is
  // worker 0.
  bool leads = false;
  // Whether the task coordinates parameter servers, and does nothing else.
  bool is_ps_coordinator = false;
  // The task's rank among those that train; nullopt for a ps, an evaluator, and
  // a chief that only coordinates.
  std::optional<int> rank;
  // The number of tasks that train; nullopt in the dynamic dialect, and for an
  // evaluator without a cluster.
  std::optional<int> world_size;
};

// The task that leads; nullopt if the cluster has neither a chief nor a worker.
std::optional<TaskId> LeaderOf(const ClusterSpec& cluster);

// InvalidArgument if the cluster does not fit the strategy: with parameter
// servers it needs a ps and a worker; otherwise it has no ps and needs a worker
// or chief.
absl::StatusOr<Role> ResolveRole(const TfConfig& config,
                                 const StrategyTraits& strategy);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_ROLE_H_
