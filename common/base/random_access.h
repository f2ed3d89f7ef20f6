// Bytes that can be read at any offset: a file, a part of one, or memory.
#ifndef PACELINE_COMMON_BASE_RANDOM_ACCESS_H_
#define PACELINE_COMMON_BASE_RANDOM_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace paceline {

class RandomAccess {
 public:
  virtual ~RandomAccess() = default;

  virtual int64_t size_bytes() const = 0;

  // Reads out.size() bytes from `offset_bytes` on. The range must lie within
  // the size. Errors name the file. May block on the disk.
  virtual absl::Status ReadAt(int64_t offset_bytes,
                              absl::Span<std::byte> out) = 0;
};

// An open file, read by pread. NotFound, PermissionDenied, or
// FailedPrecondition unless it is a regular file; DataLoss if the file becomes
// shorter while it is read.
absl::StatusOr<std::unique_ptr<RandomAccess>> OpenRandomAccess(
    const std::string& path);

// Bytes in memory.
std::unique_ptr<RandomAccess> RandomAccessTo(std::string bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_RANDOM_ACCESS_H_
