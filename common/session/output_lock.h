// An output folder, used by one run at a time.
#ifndef PACELINE_COMMON_SESSION_OUTPUT_LOCK_H_
#define PACELINE_COMMON_SESSION_OUTPUT_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Locks the folder from Take until it is destroyed or its process ends, however
// that ends. The lock is that of the file ".lock" in the folder, which stays
// there and says who holds it.
class OutputLock {
 public:
  // Makes the folder if it is not there. FailedPrecondition if another run uses
  // it, naming the process, its host and since when; nothing is changed then.
  // On a file system without locks it only warns.
  static absl::StatusOr<OutputLock> Take(const std::string& output_dir);

 private:
  explicit OutputLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_OUTPUT_LOCK_H_
