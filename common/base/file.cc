#include "common/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/folder.h"
#include "common/base/status_macros.h"

namespace paceline {

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t limit_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(file.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
    if (static_cast<int64_t>(content.size()) > limit_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          path, " is larger than the limit of ", limit_bytes, " bytes"));
    }
  }
}

absl::StatusOr<int64_t> FileSize(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error) return static_cast<int64_t>(size);
  return ErrnoError("cannot open", path, error);
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content) {
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  RETURN_IF_ERROR(file->Append(content));
  return file->Commit();
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return ErrnoError("cannot create folder", path, error);
  }
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(path));
  return folder.Sync();
}

}  // namespace paceline
