// Which files a task of a service may read: those of its job's folder, and
// those below folders that its daemon opens to jobs. And which it may write as
// caches: those of its job's folder.
#ifndef PACELINE_COMMON_JOB_READABLE_FILES_H_
#define PACELINE_COMMON_JOB_READABLE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/job/job_files.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Takes files that are below the current folder or one of `folders`, once links
// are followed, and URLs, which whoever fetches them checks. PermissionDenied
// names the file and the folders. Blocks on the file system.
FileCheck BelowFolders(std::vector<std::string> folders);

// Asks about each file of the job, relative ones in the current folder. The
// first error, with the field's path before it.
absl::Status CheckReadable(const v1::Job& job, const FileCheck& may_read);

// PermissionDenied unless each of CacheFilesOf is a relative path that stays
// below the job's folder, as far as its text says; whoever opens it follows no
// links.
absl::Status CheckCacheFiles(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_READABLE_FILES_H_
