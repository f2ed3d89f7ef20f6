// Errors of system calls on files.
#ifndef PACELINE_COMMON_BASE_ERRNO_ERROR_H_
#define PACELINE_COMMON_BASE_ERRNO_ERROR_H_

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The error for errno: "cannot open /path: ...".
inline absl::Status ErrnoError(absl::string_view action,
                               const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(action, " ", path));
}

// The same for an error of std::filesystem.
inline absl::Status ErrnoError(absl::string_view action,
                               const std::string& path,
                               const std::error_code& error) {
  return absl::ErrnoToStatus(error.value(), absl::StrCat(action, " ", path));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_ERRNO_ERROR_H_
