#include "common/transfer/job_paths.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/relative_path.h"
#include "common/base/status_macros.h"
#include "common/base/unexpected_value.h"
#include "common/base/utf8.h"
#include "common/identity/sha256.h"
#include "common/transfer/pieces.h"

namespace paceline {
namespace {

constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxComponentBytes = 255;

// Whether one of the paths is a folder of `path`.
bool IsBelowOneOf(const std::set<absl::string_view>& paths,
                  absl::string_view path) {
  for (size_t slash = path.find('/'); slash != path.npos;
       slash = path.find('/', slash + 1)) {
    if (paths.contains(path.substr(0, slash))) return true;
  }
  return false;
}

}  // namespace

bool IsJobPath(absl::string_view path) {
  if (path.size() > kMaxPathBytes || !StaysBelow(path) || !IsUtf8(path) ||
      std::any_of(path.begin(), path.end(),
                  [](char c) { return absl::ascii_iscntrl(c); })) {
    return false;
  }
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.size() > kMaxComponentBytes) return false;
  }
  return true;
}

absl::string_view CheckpointOf(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  // The place of the folder "checkpoint" in the path.
  const size_t root = parts.size() > 1 && parts[1] == "phases" ? 3 : 1;
  if (parts.size() <= root + 1 || parts[0] != kOutputFolder ||
      parts[root] != "checkpoint") {
    return "";
  }
  const absl::string_view name = parts[root + 1];
  return path.substr(
      0, static_cast<size_t>(name.data() + name.size() - path.data()));
}

absl::Status CheckJobPath(absl::string_view field, absl::string_view path,
                          absl::string_view folder) {
  const std::string prefix = folder.empty() ? "" : absl::StrCat(folder, "/");
  if (IsJobPath(path) && absl::StartsWith(path, prefix)) {
    return absl::OkStatus();
  }
  return UnexpectedValue(field, path,
                         absl::StrCat("a path below the job's folder",
                                      folder.empty() ? "" : ", in ", prefix));
}

absl::Status CheckJobFiles(absl::string_view field, const JobFiles& files,
                           absl::string_view folder) {
  std::set<absl::string_view> paths;
  for (int i = 0; i < files.size(); ++i) {
    const v1::JobFile& file = files[i];
    const std::string name = absl::StrCat(field, "[", i, "]");
    RETURN_IF_ERROR(
        CheckJobPath(absl::StrCat(name, ".path"), file.path(), folder));
    if (!paths.insert(file.path()).second) {
      return UnexpectedValue(absl::StrCat(name, ".path"), file.path(),
                             "a path that no other file has");
    }
    if (!IsSha256Hex(file.sha256())) {
      return UnexpectedValue(absl::StrCat(name, ".sha256"), file.sha256(),
                             "64 hexadecimal digits in lower case");
    }
  }
  for (int i = 0; i < files.size(); ++i) {
    if (!IsBelowOneOf(paths, files[i].path())) continue;
    return UnexpectedValue(absl::StrCat(field, "[", i, "].path"),
                           files[i].path(),
                           "a path of which no folder is another file");
  }
  return absl::OkStatus();
}

absl::Status CheckFileCount(absl::string_view field, int count) {
  if (count <= kMaxFilesInCall) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, ": ", count, " files; expected at most ", kMaxFilesInCall));
}

}  // namespace paceline
