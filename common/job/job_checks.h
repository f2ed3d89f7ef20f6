// Checks of a job's fields in combination. Errors have the path of the field at
// fault (common/config/path.h).
#ifndef PACELINE_COMMON_JOB_JOB_CHECKS_H_
#define PACELINE_COMMON_JOB_JOB_CHECKS_H_

#include "absl/status/status.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Checks combinations of fields, and builds the model, loss, metrics and
// optimizer to check them. All defaults must be filled in. InvalidArgument;
// Unimplemented for features that are not supported yet.
absl::Status CheckJob(const v1::Job& job);

// Checks that an evaluator has work: there are checkpoints, and examples that
// are not used for training.
absl::Status CheckEvaluator(const v1::Job& job);

// Checks that the job's files, whose paths must be absolute, can be read; those
// that are named by URLs are not looked at. Blocks.
absl::Status CheckFiles(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_CHECKS_H_
