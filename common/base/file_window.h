// Reads pieces of files through a buffer, so that small ones that follow each
// other cost one call of the system together.
#ifndef PACELINE_COMMON_BASE_FILE_WINDOW_H_
#define PACELINE_COMMON_BASE_FILE_WINDOW_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/stable_file.h"

namespace paceline {

// Has a part of a file in memory. After a jump it reads what it is asked for;
// while pieces follow each other, or nearly so, it reads more and more ahead,
// up to kMaxAheadBytes. So its memory is that, or the largest piece. Not
// thread-safe.
class FileWindow {
 public:
  static constexpr int64_t kMaxAheadBytes = 256 << 10;

  // The bytes [offset, offset + size) of `file`, which must have them and must
  // outlive its use here. Valid until the next call. The errors of
  // StableFile::ReadAt. Blocks on the disk.
  absl::StatusOr<absl::string_view> At(const StableFile& file, int64_t offset,
                                       int64_t size);

 private:
  // Reads so that the window begins at `offset`, with at least `size` bytes.
  absl::Status Move(const StableFile& file, int64_t offset, int64_t size);

  const StableFile* file_ = nullptr;
  // The window is [begin_, end_) of the file, at the front of the buffer.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t ahead_bytes_ = 0;
  std::string buffer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FILE_WINDOW_H_
