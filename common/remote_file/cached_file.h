// A file of the cache that is in use.
#ifndef PACELINE_COMMON_REMOTE_FILE_CACHED_FILE_H_
#define PACELINE_COMMON_REMOTE_FILE_CACHED_FILE_H_

#include <string>
#include <utility>

#include "common/base/file_descriptor.h"

namespace paceline {

// While it lives, no process removes the file or changes its content. Movable.
class CachedFile {
 public:
  // `pin` is the open file, with a shared lock (flock).
  CachedFile(std::string path, FileDescriptor pin)
      : path_(std::move(path)), pin_(std::move(pin)) {}

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor pin_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_CACHED_FILE_H_
