#include "coordinator/service/job_paths.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/peer_text.h"
#include "common/base/relative_path.h"
#include "common/base/status_macros.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxNameBytes = 255;

// Whether a job may have a file of this path.
bool IsJobPath(absl::string_view path) {
  if (path.size() > kMaxPathBytes || !StaysBelow(path)) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
    return part.size() <= kMaxNameBytes &&
           std::none_of(part.begin(), part.end(),
                        [](char c) { return absl::ascii_iscntrl(c); });
  });
}

absl::Status Invalid(absl::string_view field, absl::string_view value,
                     absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": \"", PeerText(value), "\"; expected ", expected));
}

}  // namespace

absl::Status CheckJobPath(absl::string_view field, absl::string_view path,
                          absl::string_view folder) {
  if (IsJobPath(path) && absl::StartsWith(path, folder))
    return absl::OkStatus();
  return Invalid(field, path,
                 absl::StrCat("a path below the job's folder",
                              folder.empty() ? "" : ", in ", folder));
}

absl::Status CheckContent(const v1::JobFile& file,
                          const v1::FileProgress& found) {
  if (!found.is_complete()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the coordinator does not have the content of \"",
                     PeerText(file.path()), "\""));
  }
  if (found.received_bytes() == file.size_bytes()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "\"", PeerText(file.path()), "\": ", file.size_bytes(),
      " bytes; the content with its SHA-256 has ", found.received_bytes()));
}

absl::Status CheckJobFiles(
    absl::string_view field,
    const google::protobuf::RepeatedPtrField<v1::JobFile>& files,
    absl::string_view folder) {
  if (files.size() > kMaxJobFiles) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": ", files.size(), " files; expected at most ", kMaxJobFiles));
  }
  std::set<absl::string_view> paths;
  for (int i = 0; i < files.size(); ++i) {
    const v1::JobFile& file = files[i];
    const std::string name = absl::StrCat(field, "[", i, "]");
    RETURN_IF_ERROR(
        CheckJobPath(absl::StrCat(name, ".path"), file.path(), folder));
    if (!paths.insert(file.path()).second) {
      return Invalid(absl::StrCat(name, ".path"), file.path(),
                     "a path that no other file has");
    }
    if (!IsSha256Hex(file.sha256())) {
      return Invalid(absl::StrCat(name, ".sha256"), file.sha256(),
                     "64 hexadecimal digits in lower case");
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
