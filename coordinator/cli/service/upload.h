// Gives a coordinator the files of a submission.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_

#include "absl/status/status.h"
#include "coordinator/cli/service/bundle.h"
#include "coordinator/cli/service/service_verb.h"

namespace paceline {

// A piece of a file, in bytes: less than a message may have, so that one is
// through before the call's deadline on a slow line, too.
inline constexpr size_t kFilePieceBytes = 1 << 20;

// Sends what the coordinator lacks, from where it has stopped to receive.
// Returns once it has all of it. Aborted if a file has changed since it was
// hashed.
absl::Status UploadFiles(const VerbContext& context, const JobBundle& bundle);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_UPLOAD_H_
