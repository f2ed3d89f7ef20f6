// Checks the paths and hashes that peers give to files of jobs.
#ifndef PACELINE_COMMON_TRANSFER_JOB_PATHS_H_
#define PACELINE_COMMON_TRANSFER_JOB_PATHS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// The folders, in the job's, that a job writes its results and its checkpoints
// into.
inline constexpr char kOutputFolder[] = "out";
inline constexpr char kCheckpointFolder[] = "out/checkpoint";

// The folder of the checkpoint that a job's file belongs to, such as
// "out/checkpoint/step-1", or "out/phases/head/checkpoint/step-1" of a finished
// phase; "": it belongs to none. Without its manifest, such a folder is of no
// use. Of a path that IsJobPath.
absl::string_view CheckpointOf(absl::string_view path);

using JobFiles = google::protobuf::RepeatedPtrField<v1::JobFile>;

// Whether a job may have a file of this path in its folder: it stays below, and
// is at most 1024 bytes of UTF-8 without control characters, of which no
// component has more than 255.
bool IsJobPath(absl::string_view path);

// InvalidArgument, with the field, the value and what is expected, unless it is
// one, below `folder` of the job's; "": anywhere.
absl::Status CheckJobPath(absl::string_view field, absl::string_view path,
                          absl::string_view folder = "");

// The same unless all paths are, none is there twice or a folder of another,
// and all hashes are those of SHA-256.
absl::Status CheckJobFiles(absl::string_view field, const JobFiles& files,
                           absl::string_view folder = "");

// InvalidArgument, with the field, unless a call may tell of so many files.
absl::Status CheckFileCount(absl::string_view field, int count);

}  // namespace paceline

#endif  // PACELINE_COMMON_TRANSFER_JOB_PATHS_H_
