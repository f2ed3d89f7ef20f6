// Errors about the class of a Keras object.
#ifndef PACELINE_COMMON_CONFIG_CLASS_ERROR_H_
#define PACELINE_COMMON_CONFIG_CLASS_ERROR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"

namespace paceline {

// Like ConfigError for the object at `path`, except that Locate adds the line
// of the class name, which may come after the first line of the object.
absl::Status ClassError(
    const Path& path, absl::string_view class_name, absl::string_view message,
    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

// The same, for an unknown class. `kind` says what the `known` classes are:
// "layer".
absl::Status UnknownClass(const Path& path, absl::string_view kind,
                          absl::string_view class_name,
                          const std::vector<std::string>& known);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_CLASS_ERROR_H_
