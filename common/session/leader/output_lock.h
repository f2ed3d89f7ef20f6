// A lock on an output folder: only one run at a time may use it.
#ifndef PACELINE_COMMON_SESSION_LEADER_OUTPUT_LOCK_H_
#define PACELINE_COMMON_SESSION_LEADER_OUTPUT_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Locks the folder from Take until the object is destroyed or its process ends
// in any way. It is an advisory lock on the file ".lock" in the folder. The
// file stays there and says who holds the lock.
class OutputLock {
 public:
  // Creates the folder if needed. FailedPrecondition if another run holds the
  // lock, with that process, its host and the time since when; then nothing is
  // changed. On a file system without locks it only logs a warning.
  static absl::StatusOr<OutputLock> Take(const std::string& output_dir);

 private:
  explicit OutputLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_OUTPUT_LOCK_H_
