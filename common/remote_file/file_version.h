// What a server says of a file, by which its versions are told apart.
#ifndef PACELINE_COMMON_REMOTE_FILE_FILE_VERSION_H_
#define PACELINE_COMMON_REMOTE_FILE_FILE_VERSION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace paceline {

struct FileVersion {
  // Headers of the response, each one line; "": it has none.
  std::string etag;
  std::string last_modified;
  // Of the whole file; -1: unknown.
  int64_t bytes = -1;
  // SHA-256 of the content in 64 lower-case hexadecimal digits; "": unknown.
  std::string sha256;

  // What If-Range takes: an ETag that is not weak, or else Last-Modified; "" if
  // there is neither.
  std::string Validator() const;
};

// nullopt if there is no such file, or it is damaged. Blocks on the disk.
std::optional<FileVersion> ReadVersion(const std::string& path);
absl::Status WriteVersion(const FileVersion& version, const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_REMOTE_FILE_FILE_VERSION_H_
