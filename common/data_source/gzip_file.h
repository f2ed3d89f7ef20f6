// A file that may be compressed with gzip, which its first bytes tell.
//
// Errors start with the path.
#ifndef PACELINE_COMMON_DATA_SOURCE_GZIP_FILE_H_
#define PACELINE_COMMON_DATA_SOURCE_GZIP_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// A type of zlib.
struct gzFile_s;

namespace paceline {

// Not thread-safe.
class GzipFile {
 public:
  // NotFound, PermissionDenied, or InvalidArgument unless it is a regular file.
  static absl::StatusOr<GzipFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  bool is_compressed() const;
  // An upper bound of the bytes that Read can return; for an uncompressed file
  // its size.
  int64_t capacity_bytes() const;

  // Reads `size` bytes; fewer only at the end of the file, where checksums are
  // compared. DataLoss: the compressed data is truncated or damaged, with the
  // place in the file.
  absl::StatusOr<int64_t> Read(void* out, int64_t size);

  // The next Read starts at `offset` of the uncompressed data. In a compressed
  // file the next Read decompresses everything in between; everything from the
  // beginning, if `offset` is before the current position.
  absl::Status Seek(int64_t offset);

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  GzipFile(std::string path, int64_t size_bytes, gzFile_s* file)
      : path_(std::move(path)), size_bytes_(size_bytes), file_(file) {}
  absl::Status LastError() const;

  std::string path_;
  int64_t size_bytes_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_GZIP_FILE_H_
