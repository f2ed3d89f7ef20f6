// Every strategy, as a worker makes it.
//
// A strategy is one file here, with what makes it, and a line of the table in
// strategies.cc. What others need to know of it is in
// common/strategy/strategy_traits.h.
#ifndef PACELINE_WORKER_STRATEGY_STRATEGIES_H_
#define PACELINE_WORKER_STRATEGY_STRATEGIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/strategy_parts.h"

namespace paceline {

// The strategy of the job, for one replica. The variables of rank 0 have the
// values of the start. May block until other replicas of the group call it,
// too, each on its own thread.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(
    const StrategyParts& parts);

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGIES_H_
