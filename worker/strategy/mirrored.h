// mirrored and multi_worker_mirrored: each replica has a copy of the variables.
#ifndef PACELINE_WORKER_STRATEGY_MIRRORED_H_
#define PACELINE_WORKER_STRATEGY_MIRRORED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

// Gives all replicas the variables of rank 0. From then on the devices update
// the variables if they can (device_update.h), otherwise the host does
// (all_reduce.h). Blocks until this replica has the variables; all replicas of
// the group must call it.
absl::StatusOr<std::unique_ptr<Strategy>> MakeMirrored(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_MIRRORED_H_
