#include "common/data_source/whole_file.h"

#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/peer_text.h"
#include "common/base/regular_file.h"
#include "common/base/status_macros.h"
#include "common/data_source/folder_links.h"

namespace paceline {

absl::StatusOr<absl::string_view> WholeFileReader::Read(
    const std::string& path) {
  ASSIGN_OR_RETURN(const RegularFile opened, OpenRegular(path));
  const FileDescriptor& file = opened.file;
  ASSIGN_OR_RETURN(const std::filesystem::path real, PathOf(file, path));
  if (!IsWithin(real, folder_)) {
    return absl::PermissionDeniedError(
        absl::StrCat(PeerText(path), ": the link leads out of ",
                     PeerText(folder_.string())));
  }
  const auto size = static_cast<size_t>(opened.state.st_size);
  if (opened.state.st_size > limit_bytes_) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has ", size, " bytes; expected at most ", limit_bytes_));
  }
  if (size > capacity_) {
    bytes_.reset(new char[size]);
    capacity_ = size;
  }
  size_t done = 0;
  while (done < size) {
    const ssize_t count = read(file.get(), bytes_.get() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot read", path);
    // It has become shorter; whoever reads the content finds it cut.
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return absl::string_view(bytes_.get(), done);
}

}  // namespace paceline
