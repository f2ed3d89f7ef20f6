// Data that a job names by URLs.
#ifndef PACELINE_WORKER_SETUP_REMOTE_DATA_H_
#define PACELINE_WORKER_SETUP_REMOTE_DATA_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/path.h"
#include "common/data_source/data_source.h"
#include "common/remote_file/remote_files.h"
#include "common/task/data_options.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// How this process fetches files: by its command line and its environment
// (`get` is std::getenv in main.cc). Read are XDG_CACHE_HOME and HOME; the
// variables of S3Access and Network; and SSL_CERT_FILE, a file of authorities.
// InvalidArgument names the option.
absl::StatusOr<RemoteFilesOptions> RemoteFilesOf(
    const DataOptions& options, char* (*get)(const char* name));

// Files that are in use while this lives.
using FetchedFiles = std::vector<CachedFile>;

// Fetches the files that the data set names by URL, as far as they are read for
// `contents`, and puts the paths of their copies in the place of the URLs.
// `field`: of the data set in the job, for errors, which are those of
// RemoteFiles::Fetch, behind the field. Blocks.
absl::StatusOr<FetchedFiles> FetchData(const RemoteFiles& files,
                                       Contents contents, const Path& field,
                                       const std::function<void()>& on_progress,
                                       v1::Dataset& dataset);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_REMOTE_DATA_H_
