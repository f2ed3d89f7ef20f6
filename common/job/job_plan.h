// The layout of a job's variables in memory and on parameter servers.
#ifndef PACELINE_COMMON_JOB_JOB_PLAN_H_
#define PACELINE_COMMON_JOB_JOB_PLAN_H_

#include "absl/status/statusor.h"
#include "common/model/graph.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/placement.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Says which variables may be cut: all but trained ones, if the optimizer
// updates whole variables. Refers to the optimizer.
MayCut MayCutFor(const Optimizer& optimizer);

// A pure function of the job, so the plan is equal in every process.
// `graph` is that of the job's model. `shard_count` is 1 without
// parameter servers. Errors are those of ShardPlan::Make and MakeOptimizer.
// InvalidArgument also names a variable that the optimizer needs as a whole,
// but that a parameter server could not receive or update within the deadline
// of a call.
absl::StatusOr<ShardPlan> MakeJobPlan(const v1::Job& job, const Graph& graph,
                                      int shard_count, int bytes_per_element);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_PLAN_H_
