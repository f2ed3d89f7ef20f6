// Checks the paths that peers give to files of jobs.
#ifndef PACELINE_COORDINATOR_SERVICE_JOB_PATHS_H_
#define PACELINE_COORDINATOR_SERVICE_JOB_PATHS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// The folder, in the job's, that a job writes its results and checkpoints into.
inline constexpr char kOutputFolder[] = "out/";
inline constexpr char kCheckpointFolder[] = "out/checkpoint/";
// Files that one job may have, in and out.
inline constexpr int kMaxJobFiles = 10'000;

// InvalidArgument, with the field, the value and what is expected, unless there
// are at most kMaxJobFiles files of different paths, each below `folder`
// (""; the job's own), and each SHA-256 is one.
absl::Status CheckJobFiles(
    absl::string_view field,
    const google::protobuf::RepeatedPtrField<v1::JobFile>& files,
    absl::string_view folder);

// The same for one path.
absl::Status CheckJobPath(absl::string_view field, absl::string_view path,
                          absl::string_view folder);

// FailedPrecondition unless the coordinator has all of the file's content, of
// the size that the file is said to have.
absl::Status CheckContent(const v1::JobFile& file,
                          const v1::FileProgress& found);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_JOB_PATHS_H_
