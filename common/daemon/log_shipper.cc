#include "common/daemon/log_shipper.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/status_macros.h"
#include "common/transfer/pieces.h"

namespace paceline {

absl::StatusOr<bool> LogShipper::Ship() {
  if (!file_.is_open()) {
    file_ =
        FileDescriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file_.is_open()) return ErrnoError("cannot open", path_);
  }
  v1::AppendLogRequest request;
  std::string& text = *request.mutable_text();
  text.resize(kMaxLogPieceBytes);
  const ssize_t count = pread(file_.get(), text.data(), text.size(),
                              static_cast<off_t>(shipped_));
  if (count < 0 && errno == EINTR) return true;
  if (count < 0) return ErrnoError("cannot read", path_);
  if (count == 0) return false;
  text.resize(static_cast<size_t>(count));
  *request.mutable_task() = task_;
  request.set_offset(shipped_);
  ASSIGN_OR_RETURN(const v1::AppendLogResponse response,
                   client_.AppendLog(request));
  if (response.size() == shipped_) {
    return absl::AbortedError(absl::StrCat("AppendLog to ",
                                           client_.description(), ": ", path_,
                                           ": no more of it is taken"));
  }
  shipped_ = response.size();
  return true;
}

}  // namespace paceline
