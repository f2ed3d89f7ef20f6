#include "common/zip/zip_file_source.h"

#include <algorithm>

namespace paceline {

zip_int64_t ZipFileSource::Call(void* self, void* data, zip_uint64_t size,
                                zip_source_cmd_t command) {
  return static_cast<ZipFileSource*>(self)->Run(data, size, command);
}

zip_int64_t ZipFileSource::Run(void* data, zip_uint64_t size,
                               zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_OPEN:
      position_ = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return Read(data, size);
    case ZIP_SOURCE_SEEK:
      return Seek(data, size);
    case ZIP_SOURCE_TELL:
      return position_;
    case ZIP_SOURCE_STAT:
      return Stat(data);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&error_, data, size);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_ACCEPT_EMPTY:
      // An empty file is no archive.
      return 0;
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_SEEKABLE |
             ZIP_SOURCE_MAKE_COMMAND_BITMASK(ZIP_SOURCE_ACCEPT_EMPTY);
    default:
      zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

zip_int64_t ZipFileSource::Read(void* out, zip_uint64_t size) {
  const auto wanted = static_cast<int64_t>(std::min<zip_uint64_t>(
      size, static_cast<zip_uint64_t>(file_->size_bytes() - position_)));
  status_ = file_->ReadAt(position_, static_cast<char*>(out), wanted);
  if (!status_.ok()) {
    zip_error_set(&error_, ZIP_ER_READ, 0);
    return -1;
  }
  last_read_ = position_;
  position_ += wanted;
  return wanted;
}

zip_int64_t ZipFileSource::Seek(void* arguments, zip_uint64_t size) {
  const zip_int64_t offset = zip_source_seek_compute_offset(
      static_cast<zip_uint64_t>(position_),
      static_cast<zip_uint64_t>(file_->size_bytes()), arguments, size, &error_);
  if (offset < 0) return -1;
  position_ = offset;
  return 0;
}

zip_int64_t ZipFileSource::Stat(void* out) const {
  auto& stat = *static_cast<zip_stat_t*>(out);
  zip_stat_init(&stat);
  stat.valid = ZIP_STAT_SIZE;
  stat.size = static_cast<zip_uint64_t>(file_->size_bytes());
  return sizeof(stat);
}

}  // namespace paceline
