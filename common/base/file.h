// Whole files, read and written with clear errors.
#ifndef PACELINE_COMMON_BASE_FILE_H_
#define PACELINE_COMMON_BASE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The content of a file of at most `limit_bytes`. NotFound, PermissionDenied,
// or ResourceExhausted above the limit; messages name the path.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t limit_bytes);

// Of a file, in bytes. NotFound, PermissionDenied, FailedPrecondition (it is a
// folder); messages name the path.
absl::StatusOr<int64_t> FileSize(const std::string& path);

// Writes a file whole or not at all: into `path`.tmp, synced, then renamed over
// `path`. On an error (a full disk, say) what was at `path` stays as it was. A
// link at either is replaced, never followed.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);

// Makes `path` and its parents if they do not exist.
absl::Status MakeDirectories(const std::string& path);

// Flushes a directory's entries to disk, so that renames in it last.
absl::Status SyncDirectory(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FILE_H_
