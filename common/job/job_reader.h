// Reads job files.
#ifndef PACELINE_COMMON_JOB_JOB_READER_H_
#define PACELINE_COMMON_JOB_JOB_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/job/job_files.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct JobReaderOptions {
  // Whether the job's data files must exist and be readable, but for those
  // named by URLs.
  bool check_files = true;
  // Unless null, gets the files that are read with the job, with their paths as
  // the job has them: relative ones are relative to the job file's folder.
  std::vector<JobFile>* named_files = nullptr;
  // Unless null, asked about each file before any of it is read; its error is
  // that of the job.
  FileCheck may_read = nullptr;
};

// Reads a job from YAML or JSON, and checks it completely, including its model,
// loss, metrics and optimizer. Of the result:
//  * `overrides`, each "path.to.field=value", are applied.
//  * All defaults are filled in.
//  * Paths are absolute. In the file, paths are relative to the file's folder.
//    Those that are URLs stay as they are.
//
// Errors start with "<path>:<line>: <path of the field>: ". NotFound or
// PermissionDenied for files, Unimplemented for features that are not supported
// yet, ResourceExhausted above a limit, else InvalidArgument. Blocks on files.
absl::StatusOr<v1::Job> ReadJobFile(const std::string& path,
                                    absl::Span<const std::string> overrides,
                                    const JobReaderOptions& options = {});

// The same for the text of a job file; the file `path` need not exist.
absl::StatusOr<v1::Job> ReadJob(absl::string_view text, const std::string& path,
                                absl::Span<const std::string> overrides,
                                const JobReaderOptions& options = {});

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_READER_H_
