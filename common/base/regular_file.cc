#include "common/base/regular_file.h"

#include <fcntl.h>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

const char* KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

absl::Status CheckRegular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": is ", KindOfFile(mode), ", expected a regular file"));
}

absl::StatusOr<RegularFile> OpenRegular(const std::string& path) {
  RegularFile opened;
  // A socket cannot be opened, and opening a device may do something.
  if (stat(path.c_str(), &opened.state) == 0) {
    RETURN_IF_ERROR(CheckRegular(path, opened.state.st_mode));
  }
  // In the meantime it may have become a pipe, which would block.
  opened.file = FileDescriptor(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened.file.is_open() || fstat(opened.file.get(), &opened.state) != 0) {
    return ErrnoError("cannot open", path);
  }
  RETURN_IF_ERROR(CheckRegular(path, opened.state.st_mode));
  return opened;
}

}  // namespace paceline
