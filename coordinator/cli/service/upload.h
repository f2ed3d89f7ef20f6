// Gives a coordinator the files of a submission.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_

#include "absl/status/status.h"
#include "coordinator/cli/service/bundle.h"
#include "coordinator/cli/service/service_verb.h"

namespace paceline {

// Sends what the coordinator lacks, from where it has stopped to receive.
// Returns once it has all of it. Aborted if a file has changed since it was
// hashed. Pauses between pieces if the coordinator wants it.
absl::Status UploadFiles(const VerbContext& context, const JobBundle& bundle);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_
