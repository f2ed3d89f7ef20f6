// A file that must stay as it is while it is read.
#ifndef PACELINE_COMMON_BASE_STABLE_FILE_H_
#define PACELINE_COMMON_BASE_STABLE_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Stays open, so the content stays readable if the path is removed or gets
// another file. Thread-safe.
class StableFile {
 public:
  // NotFound, PermissionDenied, or InvalidArgument unless it is a regular file
  // of at most limits::kMaxDataFileBytes. Messages name the path.
  static absl::StatusOr<StableFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  int64_t size_bytes() const { return state_.st_size; }

  // Reads `size` bytes from `offset` on; the range must lie within the size.
  // FailedPrecondition if the file has been written to since it was opened.
  absl::Status ReadAt(int64_t offset, char* out, int64_t size) const;

 private:
  StableFile(std::string path, FileDescriptor file, const struct stat& state)
      : path_(std::move(path)), file_(std::move(file)), state_(state) {}

  std::string path_;
  FileDescriptor file_;
  // When it was opened.
  struct stat state_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_STABLE_FILE_H_
