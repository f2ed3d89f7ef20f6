// What may be read as a file of data.
#ifndef PACELINE_COMMON_BASE_REGULAR_FILE_H_
#define PACELINE_COMMON_BASE_REGULAR_FILE_H_

#include <sys/stat.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// InvalidArgument names the path and what it is unless `mode`, of a stat, is
// that of a regular file: "/d/x: is a pipe, expected a regular file".
absl::Status CheckRegular(const std::string& path, mode_t mode);

struct RegularFile {
  FileDescriptor file;
  // When it was opened.
  struct stat state = {};
};

// Opens a file for reading. Does not block, whatever the path is.
// InvalidArgument unless it is a regular file; NotFound, PermissionDenied, or
// what else the system says. Messages name the path.
absl::StatusOr<RegularFile> OpenRegular(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_REGULAR_FILE_H_
