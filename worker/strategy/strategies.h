// Creates strategies.
//
// A strategy is a file in this folder with its Make function, and a row of the
// table in strategies.cc. Its traits are in common/strategy/strategy_traits.h.
#ifndef PACELINE_WORKER_STRATEGY_STRATEGIES_H_
#define PACELINE_WORKER_STRATEGY_STRATEGIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

// Creates the job's strategy for one replica. The variables of rank 0 must have
// their initial values. May block until the other replicas of the group call
// it, too, each on its own thread.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGIES_H_
