#include "coordinator/service/private_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"

namespace paceline {

absl::Status WritePrivateFile(const std::string& path,
                              absl::string_view content) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return ErrnoError("cannot replace", path);
  }
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           0600));
  if (!file.is_open()) return ErrnoError("cannot create", path);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("cannot write", path);
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(file.get()) != 0) return ErrnoError("cannot sync", path);
  return SyncDirectory(std::filesystem::path(path).parent_path().string());
}

}  // namespace paceline
