// Whether a job's files are in the coordinator's store.
#ifndef PACELINE_COORDINATOR_SERVICE_CHECK_CONTENTS_H_
#define PACELINE_COORDINATOR_SERVICE_CHECK_CONTENTS_H_

#include "absl/status/status.h"
#include "common/transfer/job_paths.h"
#include "coordinator/store/file_store.h"

namespace paceline {

// FailedPrecondition, with the path, unless the store has the content of all
// files, of the sizes that the files are said to have.
absl::Status CheckContents(FileStore& store, const JobFiles& files);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_CHECK_CONTENTS_H_
