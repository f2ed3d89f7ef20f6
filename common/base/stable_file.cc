#include "common/base/stable_file.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/errno_error.h"
#include "common/base/regular_file.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

bool IsSameState(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

absl::StatusOr<StableFile> StableFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(RegularFile opened, OpenRegular(path));
  if (opened.state.st_size > limits::kMaxDataFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: has %d bytes, expected at most %d", path,
                        opened.state.st_size, limits::kMaxDataFileBytes));
  }
  return StableFile(path, std::move(opened.file), opened.state);
}

absl::Status StableFile::ReadAt(int64_t offset, char* out, int64_t size) const {
  CHECK(offset >= 0 && size >= 0 && size <= size_bytes() - offset);
  bool is_cut = false;
  while (size > 0 && !is_cut) {
    const ssize_t count =
        pread(file_.get(), out, static_cast<size_t>(size), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot read", path_);
    is_cut = count == 0;
    out += count;
    offset += count;
    size -= count;
  }
  struct stat state = {};
  if (fstat(file_.get(), &state) != 0) return ErrnoError("cannot read", path_);
  if (!is_cut && IsSameState(state, state_)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path_,
      ": was written to while it was read, expected it to stay as it "
      "was when the job opened it"));
}

}  // namespace paceline
