#include "common/session/leader/output_lock.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// "process 4711 on host-a since 2026-11-22T21:25:19+00:00".
std::string ThisProcess() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat(
      "process ", getpid(), " on ", host, " since ",
      absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone()));
}

// Size of the buffer for the holder's text; the texts of ThisProcess are
// shorter.
constexpr size_t kHolderBytes = 512;

// The text that the holder wrote into the file; it may not have written yet.
std::string Holder(const FileDescriptor& file) {
  char text[kHolderBytes];
  const ssize_t size = pread(file.get(), text, sizeof(text), 0);
  if (size <= 0) return "a process that has just begun";
  return PeerText({text, static_cast<size_t>(size)});
}

absl::Status WriteHolder(const FileDescriptor& file, const std::string& path) {
  const std::string text = ThisProcess();
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), text.data(), text.size(), 0) < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputLock> OutputLock::Take(const std::string& output_dir) {
  RETURN_IF_ERROR(MakeDirectories(output_dir));
  const std::string path = absl::StrCat(output_dir, "/.lock");
  FileDescriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return absl::FailedPreconditionError(
          absl::StrCat("the output folder ", output_dir, " is in use by ",
                       Holder(file), "; expected one that no other run uses"));
    }
    PLOG(WARNING) << "cannot lock " << path
                  << ": another run in this folder would not be noticed";
  }
  RETURN_IF_ERROR(WriteHolder(file, path));
  return OutputLock(std::move(file));
}

}  // namespace paceline
