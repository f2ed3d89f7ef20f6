#include "coordinator/service/private_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"

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
  RETURN_IF_ERROR(WriteAll(file, path, content));
  if (fsync(file.get()) != 0) return ErrnoError("cannot sync", path);
  return SyncDirectory(std::filesystem::path(path).parent_path().string());
}

}  // namespace paceline
