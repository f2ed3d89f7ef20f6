// A file with a secret.
#ifndef PACELINE_COORDINATOR_SERVICE_PRIVATE_FILE_H_
#define PACELINE_COORDINATOR_SERVICE_PRIVATE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Writes a file that only its user can read (mode 0600), also while it is
// written, and syncs it. What was at `path` is replaced; a link is not
// followed. Errors name the path, and not the content.
absl::Status WritePrivateFile(const std::string& path,
                              absl::string_view content);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_PRIVATE_FILE_H_
