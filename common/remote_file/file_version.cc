#include "common/remote_file/file_version.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

constexpr char kTitle[] = "paceline-file-version 1";
constexpr int64_t kMaxVersionBytes = 1 << 20;

}  // namespace

std::string FileVersion::Validator() const {
  return !etag.empty() && !absl::StartsWith(etag, "W/") ? etag : last_modified;
}

std::optional<FileVersion> ReadVersion(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxVersionBytes);
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  FileVersion version;
  if (lines.size() != 6 || lines[0] != kTitle ||
      !absl::SimpleAtoi(lines[3], &version.bytes) || version.bytes < -1 ||
      !(lines[4].empty() || IsSha256Hex(lines[4]))) {
    return std::nullopt;
  }
  version.etag = lines[1];
  version.last_modified = lines[2];
  version.sha256 = lines[4];
  return version;
}

absl::Status WriteVersion(const FileVersion& version, const std::string& path) {
  return WriteFileAtomically(
      path,
      absl::StrCat(kTitle, "\n", version.etag, "\n", version.last_modified,
                   "\n", version.bytes, "\n", version.sha256, "\n"));
}

}  // namespace paceline
