// Reads whole files, one after the other.
#ifndef PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Keeps its memory for the next file. Not thread-safe.
class WholeFileReader {
 public:
  // Files of at most `limit_bytes` are read.
  explicit WholeFileReader(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // The content, valid until the next call. NotFound, PermissionDenied,
  // FailedPrecondition unless it is a regular file, or ResourceExhausted if it
  // is larger; messages name the path.
  absl::StatusOr<absl::string_view> Read(const std::string& path);

 private:
  const int64_t limit_bytes_;
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_
