// Replicas begin with the same variables.
#ifndef PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_
#define PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_

#include "absl/status/status.h"
#include "common/sharding/shard_plan.h"
#include "worker/collective/transport.h"
#include "worker/strategy/local_variables.h"

namespace paceline {

// Gives all replicas the variables, slots and count of updates of rank 0, in
// host memory. To be called by all before the first step; blocks. From then on
// they stay the same to the bit on processors with the same vector units.
absl::Status BroadcastVariables(Transport& transport, const ShardPlan& plan,
                                LocalVariables& variables);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_
