// Reads whole files, one after the other.
#ifndef PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Keeps its memory for the next file. Not thread-safe.
class WholeFileReader {
 public:
  // Reads files of at most `limit_bytes`, which lie in the folder, a canonical
  // path: a link that was moved to lead elsewhere is refused.
  WholeFileReader(std::filesystem::path folder, int64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // The content, valid until the next call. NotFound, PermissionDenied also if
  // it is not in the folder, or InvalidArgument unless it is a regular file
  // that is not larger; messages name the path.
  absl::StatusOr<absl::string_view> Read(const std::string& path);

 private:
  const std::filesystem::path folder_;
  const int64_t limit_bytes_;
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_WHOLE_FILE_H_
