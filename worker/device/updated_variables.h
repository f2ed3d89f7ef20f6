// How many gradients a step gives.
#ifndef PACELINE_WORKER_DEVICE_UPDATED_VARIABLES_H_
#define PACELINE_WORKER_DEVICE_UPDATED_VARIABLES_H_

#include <cstdint>
#include <vector>

#include "common/model/graph.h"
#include "common/sharding/shard_plan.h"

namespace paceline {

// Of each bucket, the variables that a step updates: all but the frozen ones.
inline std::vector<int64_t> CountUpdated(const Graph& graph,
                                         const ShardPlan& plan) {
  std::vector<int64_t> counts;
  for (const Bucket& bucket : plan.buckets()) {
    int64_t& count = counts.emplace_back(0);
    for (const int variable : bucket.variables) {
      if (graph.variables[variable].update != VariableUpdate::kNone) ++count;
    }
  }
  return counts;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_UPDATED_VARIABLES_H_
