#include "common/daemon/log_shipper.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/progress/progress_message.h"
#include "common/transfer/pieces.h"

namespace paceline {
namespace {

// Between two messages that have only progress, which nobody follows: the
// answers say when somebody does.
constexpr absl::Duration kIdleInterval = absl::Seconds(5);

}  // namespace

absl::StatusOr<bool> LogShipper::Ship() {
  v1::AppendLogRequest request;
  ASSIGN_OR_RETURN(const bool has_text, ReadText(*request.mutable_text()));
  const bool may_go_alone = MonotonicNow() >= next_progress_;
  const std::string last_progress = shipped_progress_;
  // After the text: see AppendLogRequest.
  const bool has_progress = (has_text || may_go_alone) && AddProgress(request);
  if (!has_text && !has_progress) return false;
  *request.mutable_task() = task_;
  request.set_offset(shipped_);
  const absl::StatusOr<v1::AppendLogResponse> response =
      client_.AppendLog(request);
  if (!response.ok()) {
    shipped_progress_ = last_progress;
    return response.status();
  }
  next_progress_ = response->wants_progress() ? absl::InfinitePast()
                                              : MonotonicNow() + kIdleInterval;
  if (has_text && response->size() == shipped_) {
    return absl::AbortedError(absl::StrCat("AppendLog to ",
                                           client_.description(), ": ", path_,
                                           ": no more of it is taken"));
  }
  shipped_ = response->size();
  return has_text;
}

void LogShipper::SendProgressAgain() {
  shipped_progress_.clear();
  next_progress_ = absl::InfinitePast();
}

absl::StatusOr<bool> LogShipper::ReadText(std::string& text) {
  if (!file_.is_open()) {
    file_ =
        FileDescriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file_.is_open()) return ErrnoError("cannot open", path_);
  }
  text.resize(kMaxLogPieceBytes);
  ssize_t count = 0;
  do {
    count = pread(file_.get(), text.data(), text.size(),
                  static_cast<off_t>(shipped_));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return ErrnoError("cannot read", path_);
  text.resize(static_cast<size_t>(count));
  return count > 0;
}

bool LogShipper::AddProgress(v1::AppendLogRequest& request) {
  if (progress_path_.empty()) return false;
  absl::StatusOr<std::string> content =
      ReadFile(progress_path_, kMaxProgressBytes);
  if (!content.ok() || *content == shipped_progress_) return false;
  v1::JobProgress& progress = *request.mutable_progress();
  // The coordinator takes nothing else, and a bar is not worth an error.
  if (!progress.ParseFromString(*content) || !CheckJobProgress(progress).ok()) {
    request.clear_progress();
    return false;
  }
  shipped_progress_ = *std::move(content);
  return true;
}

}  // namespace paceline
