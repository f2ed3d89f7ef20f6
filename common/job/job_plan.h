// How the variables of a job lie in memory and on its parameter servers.
#ifndef PACELINE_COMMON_JOB_JOB_PLAN_H_
#define PACELINE_COMMON_JOB_JOB_PLAN_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/placement.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Trained variables stay whole where the optimizer needs them so. Refers to the
// optimizer.
MayCut MayCutFor(const Optimizer& optimizer);

// Every process derives the same plan from a job. `variables` are those of its
// graph; `shard_count` is 1 where no parameter server holds them. Errors are
// those of ShardPlan::Make and MakeOptimizer; InvalidArgument names a variable
// that the job's optimizer needs whole and that a parameter server could not
// take or update within the deadline of a call.
absl::StatusOr<ShardPlan> MakeJobPlan(const v1::Job& job,
                                      absl::Span<const VariableSpec> variables,
                                      int shard_count, int bytes_per_element);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_PLAN_H_
