#include "common/daemon/daemon_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/rpc/incarnation.h"
#include "glog/logging.h"

namespace paceline {
namespace {

constexpr absl::Duration kEntryInterval = absl::Milliseconds(50);

struct Numbers {
  uint64_t home = 0;
  uint64_t has_left = 0;
};

absl::Status Lock(const FileDescriptor& file, const std::string& folder,
                  const std::function<bool()>& is_signalled,
                  absl::Duration patience) {
  const absl::Time give_up = MonotonicNow() + patience;
  bool has_told = false;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return ErrnoError("cannot lock", folder);
    if (is_signalled()) {
      return absl::CancelledError(
          absl::StrCat(folder, ": a signal came before its last daemon ended"));
    }
    if (MonotonicNow() > give_up) {
      return absl::FailedPreconditionError(absl::StrCat(
          folder,
          ": another daemon uses this folder; expected one of its own "
          "(--work)"));
    }
    if (!std::exchange(has_told, true)) {
      LOG(WARNING) << folder << ": another daemon uses this folder; waiting "
                   << patience << " for its end";
    }
    absl::SleepFor(kEntryInterval);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DaemonFolder> DaemonFolder::Enter(
    const std::string& path, const std::function<bool()>& is_signalled,
    absl::Duration patience) {
  RETURN_IF_ERROR(MakeDirectories(path));
  const std::string lock = path + "/daemon.lock";
  FileDescriptor file(
      open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return ErrnoError("cannot open", lock);
  RETURN_IF_ERROR(Lock(file, path, is_signalled, patience));
  DaemonFolder folder(std::move(file), lock);
  RETURN_IF_ERROR(folder.ReadNumbers());
  // The home may be new.
  RETURN_IF_ERROR(folder.WriteNumbers(folder.predecessor_left_));
  return folder;
}

absl::Status DaemonFolder::ReadNumbers() {
  Numbers numbers;
  if (pread(lock_.get(), &numbers, sizeof(numbers), 0) < 0) {
    return ErrnoError("cannot read", path_);
  }
  home_ = numbers.home == 0 ? DrawIncarnation() : numbers.home;
  predecessor_left_ = numbers.has_left == 1;
  noted_left_ = predecessor_left_;
  return absl::OkStatus();
}

absl::Status DaemonFolder::WriteNumbers(bool has_left) const {
  const Numbers numbers = {home_, has_left ? uint64_t{1} : 0};
  if (pwrite(lock_.get(), &numbers, sizeof(numbers), 0) != sizeof(numbers)) {
    return ErrnoError("cannot write", path_);
  }
  return absl::OkStatus();
}

void DaemonFolder::SetHeard() {
  was_heard_ = true;
  Note(/*has_left=*/false);
}

void DaemonFolder::SetLeft() {
  if (was_heard_) Note(/*has_left=*/true);
}

void DaemonFolder::Note(bool has_left) {
  if (noted_left_ == has_left) return;
  const absl::Status status = WriteNumbers(has_left);
  if (status.ok()) {
    noted_left_ = has_left;
  } else if (!std::exchange(has_failed_, true)) {
    LOG(WARNING) << status.message();
  }
}

}  // namespace paceline
