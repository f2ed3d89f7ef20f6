// Gives all replicas the same initial variables.
#ifndef PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_
#define PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_

#include "absl/status/status.h"
#include "common/sharding/bucket_layout.h"
#include "worker/collective/transport.h"
#include "worker/strategy/local_variables.h"

namespace paceline {

// Copies the variables, slots and number of updates in the host memory of rank
// 0 to all replicas. All replicas must call it before the first step; blocks.
// From then on the replicas stay equal bit by bit, if their processors have the
// same vector units.
absl::Status BroadcastVariables(Transport& transport,
                                const BucketLayout& layout,
                                LocalVariables& variables);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_BROADCAST_VARIABLES_H_
