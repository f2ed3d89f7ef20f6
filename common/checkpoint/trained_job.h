// The model that a checkpoint belongs to.
#ifndef PACELINE_COMMON_CHECKPOINT_TRAINED_JOB_H_
#define PACELINE_COMMON_CHECKPOINT_TRAINED_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/checkpoint/manifest_content.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// The fields of the job that say what the variables are (TrainedPart), from the
// manifest of the checkpoint `folder`. FailedPrecondition if an earlier release
// wrote the checkpoint without them.
absl::StatusOr<v1::Job> TrainedJobOf(const std::string& folder,
                                     const Manifest& manifest);

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_TRAINED_JOB_H_
