// The folder of a job on a daemon's machine.
#ifndef PACELINE_COMMON_DAEMON_JOB_FOLDER_H_
#define PACELINE_COMMON_DAEMON_JOB_FOLDER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transfer/job_paths.h"

namespace paceline {

// Reads a piece of the file with this SHA-256 from an offset on; empty at its
// end.
using ReadPiece = std::function<absl::StatusOr<std::string>(
    const std::string& sha256, uint64_t offset)>;

// Makes `folder`, which is created if need be, have these files and nothing
// else. Files that have the right content are kept, others are read and
// checked: DataLoss. Checks the list with CheckJobFiles first. Writes through
// no link. Nobody else may use the folder meanwhile. Blocks.
absl::Status FillJobFolder(const std::string& folder, const JobFiles& files,
                           const ReadPiece& read);

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_JOB_FOLDER_H_
