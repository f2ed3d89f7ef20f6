// What a job's fields must be together. Errors carry the path of the field at
// fault (common/config/path.h).
#ifndef PACELINE_COMMON_JOB_JOB_CHECKS_H_
#define PACELINE_COMMON_JOB_JOB_CHECKS_H_

#include "absl/status/status.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Checks combinations of fields, and builds the model, loss, metrics and
// optimizer to check them. The defaults are filled in. InvalidArgument;
// Unimplemented for what is not supported yet.
absl::Status CheckJob(const v1::Job& job);

// Whether an evaluator has work with the job: checkpoints, and examples that
// are not trained on.
absl::Status CheckEvaluator(const v1::Job& job);

// Whether the job's files, whose paths are absolute, can be read. Blocks.
absl::Status CheckFiles(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_CHECKS_H_
