// Gets a job's file from a coordinator into a folder.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_DOWNLOAD_FILE_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_DOWNLOAD_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/folder.h"
#include "coordinator/cli/service/service_verb.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// The path of an output of a job below the folder to which it is downloaded:
// that in the job's folder, without "out/". DataLoss, with the path, unless it
// is relative, and has no "..", "." or empty component.
absl::StatusOr<std::string> DownloadPath(const std::string& path_in_job);

// Opens the folder of `path` below `root`, creates what is missing of it, and
// returns it with the path's last component. FailedPrecondition if a link or a
// file is in the way.
absl::StatusOr<std::pair<Folder, std::string>> OpenParent(
    const Folder& root, const std::string& path);

// Gets the content of `file` to `path` below `root`, unless it is there
// already. An earlier try has left its beginning in `path`.part, and this one
// goes on from there. DataLoss if the content does not have the file's hash.
absl::Status DownloadFile(const VerbContext& context, const v1::JobFile& file,
                          const Folder& root, const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_DOWNLOAD_FILE_H_
