// Whole files, read and written with clear errors.
#ifndef PACELINE_COMMON_BASE_FILE_H_
#define PACELINE_COMMON_BASE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Reads a file of at most `limit_bytes`. NotFound, PermissionDenied, or
// ResourceExhausted if it is larger; messages name the path.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t limit_bytes);

// Size of a file in bytes. NotFound, PermissionDenied, or FailedPrecondition
// for a folder; messages name the path.
absl::StatusOr<int64_t> FileSize(const std::string& path);

// Writes a file atomically: into `path`.tmp, synced, then renamed to `path`. On
// an error (such as a full disk) the file at `path` stays as it was. A link at
// either path is replaced, never followed.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);

// Creates `path` and its parents if they do not exist.
absl::Status MakeDirectories(const std::string& path);

// Syncs a directory, so that renames in it survive a crash.
absl::Status SyncDirectory(const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FILE_H_
