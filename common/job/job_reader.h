// Reads job files.
#ifndef PACELINE_COMMON_JOB_JOB_READER_H_
#define PACELINE_COMMON_JOB_JOB_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct JobReaderOptions {
  // Whether the files of the job's data must be there and readable.
  bool check_files = true;
};

// Reads a job from YAML or JSON and checks it in full, its model, loss, metrics
// and optimizer included. Then applies to the job:
//  - `overrides`, each "path.to.field=value", were applied before it was read;
//  - all defaults are filled in;
//  - paths are absolute; in the file, they are relative to its folder.
//
// Errors start with "<path>:<line>: <path of the field>: ". NotFound or
// PermissionDenied for files, Unimplemented for what is not supported yet,
// ResourceExhausted above a limit, else InvalidArgument. Blocks on files.
absl::StatusOr<v1::Job> ReadJobFile(const std::string& path,
                                    absl::Span<const std::string> overrides,
                                    const JobReaderOptions& options = {});

// The same for the text of a job file at `path`, which need not exist.
absl::StatusOr<v1::Job> ReadJob(absl::string_view text, const std::string& path,
                                absl::Span<const std::string> overrides,
                                const JobReaderOptions& options = {});

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_READER_H_
