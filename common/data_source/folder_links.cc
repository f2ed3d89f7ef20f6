#include "common/data_source/folder_links.h"

#include <algorithm>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/peer_text.h"

namespace paceline {

bool IsWithin(const std::filesystem::path& path,
              const std::filesystem::path& folder) {
  const auto [end, rest] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

absl::StatusOr<std::filesystem::path> PathOf(const FileDescriptor& file,
                                             const std::string& path) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::read_symlink(
      absl::StrCat("/proc/self/fd/", file.get()), error);
  if (error) return ErrnoError("cannot find", path, error);
  return target;
}

absl::StatusOr<std::filesystem::path> TargetWithin(
    const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return ErrnoError("cannot open", path.string(), error);
  if (IsWithin(target, folder)) return target;
  return absl::InvalidArgumentError(absl::StrCat(PeerText(path.string()),
                                                 ": the link leads out of ",
                                                 PeerText(folder.string())));
}

}  // namespace paceline
