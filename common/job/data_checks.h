// Checks of a job's data sets. Errors have the path of the field at fault
// (common/config/path.h).
#ifndef PACELINE_COMMON_JOB_DATA_CHECKS_H_
#define PACELINE_COMMON_JOB_DATA_CHECKS_H_

#include "absl/status/status.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Checks each data set, and what they must have in common. All defaults must be
// filled in. InvalidArgument. Looks at no file.
absl::Status CheckData(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_DATA_CHECKS_H_
