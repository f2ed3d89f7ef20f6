// What a job and the checkpoint from which it resumes must have in common,
// beside what CheckpointReader::CheckFits checks.
#ifndef PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_
#define PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_

#include "absl/status/status.h"
#include "common/checkpoint/manifest_content.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

// InvalidArgument if the checkpoint was written between two calls of the same
// update (gradient_accumulation.h), and the job's optimizer takes another
// number of calls: its mean would not be that of what is accumulated. Errors of
// MakeOptimizer if the checkpoint's optimizer is unusable.
absl::Status CheckAccumulation(const Manifest& restored,
                               const Optimizer& optimizer);

// InvalidArgument unless the checkpoint is of this phase of the job; "": of a
// job that has none.
absl::Status CheckPhase(const Manifest& restored, const std::string& phase);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_RESUME_CHECKS_H_
