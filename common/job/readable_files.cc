#include "common/job/readable_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/relative_path.h"
#include "common/base/remote_url.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Whether `path` is in the folder, once links are followed.
bool IsIn(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path real_folder = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path real_path = fs::weakly_canonical(fs::absolute(path), error);
  if (error) return false;
  const fs::path below = real_path.lexically_relative(real_folder);
  return !below.empty() && *below.begin() != "..";
}

}  // namespace

FileCheck BelowFolders(std::vector<std::string> folders) {
  // It is among them anyway.
  std::erase(folders, ".");
  return [folders = std::move(folders)](const JobFile& file) {
    if (IsRemote(file.path)) return absl::OkStatus();
    bool is_below = IsIn(fs::current_path(), file.path);
    for (const std::string& folder : folders) {
      is_below = is_below || IsIn(folder, file.path);
    }
    if (is_below) return absl::OkStatus();
    return absl::PermissionDeniedError(absl::StrCat(
        file.path,
        " is outside the job's folder; expected a file that came with the job, "
        "or one below a --data folder of this task's daemon, which has ",
        folders.empty() ? "none" : absl::StrJoin(folders, ", ")));
  };
}

absl::Status CheckReadable(const v1::Job& job, const FileCheck& may_read) {
  for (const JobFile& file : FilesOf(job)) {
    const absl::Status allowed = may_read(file);
    if (!allowed.ok()) {
      return ConfigError(file.field, allowed.message(), allowed.code());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCacheFiles(const v1::Job& job) {
  for (const JobFile& file : CacheFilesOf(job)) {
    if (StaysBelow(file.path)) continue;
    return ConfigError(
        file.field,
        absl::StrCat(Excerpt(file.path),
                     ": expected a path below the job's folder, since tasks of "
                     "a service write nowhere else"),
        absl::StatusCode::kPermissionDenied);
  }
  return absl::OkStatus();
}

}  // namespace paceline
