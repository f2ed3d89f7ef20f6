// Lets libzip read an archive from a file that is open already.
#ifndef PACELINE_COMMON_ZIP_ZIP_FILE_SOURCE_H_
#define PACELINE_COMMON_ZIP_ZIP_FILE_SOURCE_H_

#include <zip.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "common/base/stable_file.h"

namespace paceline {

// What a zip_source_t of libzip calls: it must outlive that. Not thread-safe.
class ZipFileSource {
 public:
  explicit ZipFileSource(std::shared_ptr<const StableFile> file)
      : file_(std::move(file)) {
    zip_error_init(&error_);
  }
  ~ZipFileSource() { zip_error_fini(&error_); }
  ZipFileSource(const ZipFileSource&) = delete;
  ZipFileSource& operator=(const ZipFileSource&) = delete;

  const std::shared_ptr<const StableFile>& file() const { return file_; }
  // Where in the file the next read begins.
  int64_t position() const { return position_; }
  // Where in the file the last read began.
  int64_t last_read() const { return last_read_; }
  // The error of the last read that failed.
  const absl::Status& status() const { return status_; }

  // The callback of zip_source_function; `self` is a ZipFileSource.
  static zip_int64_t Call(void* self, void* data, zip_uint64_t size,
                          zip_source_cmd_t command);

 private:
  zip_int64_t Run(void* data, zip_uint64_t size, zip_source_cmd_t command);
  zip_int64_t Read(void* out, zip_uint64_t size);
  zip_int64_t Seek(void* arguments, zip_uint64_t size);
  zip_int64_t Stat(void* out) const;

  const std::shared_ptr<const StableFile> file_;
  int64_t position_ = 0;
  int64_t last_read_ = 0;
  absl::Status status_;
  // What libzip asks for after a call has failed.
  zip_error_t error_ = {};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_ZIP_ZIP_FILE_SOURCE_H_
