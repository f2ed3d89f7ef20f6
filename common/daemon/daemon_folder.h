// The folder in which a daemon works.
#ifndef PACELINE_COMMON_DAEMON_DAEMON_FOLDER_H_
#define PACELINE_COMMON_DAEMON_DAEMON_FOLDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// From the signal that ends a daemon to its end, at most.
inline constexpr absl::Duration kLeavingTime = absl::Seconds(25);

// Keeps other daemons out of the folder while it lives, and keeps two numbers
// for the next one in the file `daemon.lock`:
//
//   bytes 0 to 7    home, a random number, the same for all daemons of a folder
//   bytes 8 to 15   1 if the last daemon that the coordinator had heard was
//                   asked to end, and its tasks did so; else 0
//
// Not thread-safe.
class DaemonFolder {
 public:
  // Makes the folder if it is missing, and waits for a daemon in it that is
  // ending. FailedPrecondition if that is there after `patience`, Cancelled if
  // `is_signalled` before; errors name the folder.
  static absl::StatusOr<DaemonFolder> Enter(
      const std::string& path, const std::function<bool()>& is_signalled,
      absl::Duration patience = kLeavingTime + absl::Seconds(5));

  // What tells this daemon from another one of its name.
  uint64_t home() const { return home_; }
  // Whether the last daemon that was heard had left in this way.
  bool predecessor_left() const { return predecessor_left_; }

  // The coordinator has heard this daemon: from now on the folder tells of it,
  // and not of the one before.
  void SetHeard();
  // All of its tasks have ended since the daemon was asked to end. Does nothing
  // if the coordinator has not heard it: then there were none.
  void SetLeft();

 private:
  DaemonFolder(FileDescriptor lock, std::string path)
      : lock_(std::move(lock)), path_(std::move(path)) {}
  absl::Status ReadNumbers();
  absl::Status WriteNumbers(bool has_left) const;
  // The same, unless the file says so. Logs the first failure.
  void Note(bool has_left);

  FileDescriptor lock_;
  std::string path_;
  uint64_t home_ = 0;
  bool predecessor_left_ = false;
  bool was_heard_ = false;
  // What the file says.
  bool noted_left_ = false;
  bool has_failed_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_DAEMON_FOLDER_H_
