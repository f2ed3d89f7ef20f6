#include "common/base/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "common/base/errno_error.h"

namespace paceline {

absl::Status WriteAll(const FileDescriptor& file, const std::string& path,
                      absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status WriteAllAt(const FileDescriptor& file, const std::string& path,
                        uint64_t offset, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file.get(), bytes.data(), bytes.size(),
                                 static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

}  // namespace paceline
