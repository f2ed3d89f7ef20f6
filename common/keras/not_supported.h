// The error for parts of Keras' files that we cannot use yet.
#ifndef PACELINE_COMMON_KERAS_NOT_SUPPORTED_H_
#define PACELINE_COMMON_KERAS_NOT_SUPPORTED_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"

namespace paceline {

// `what`: "shared layers".
inline absl::Status NotSupported(const Path& path, absl::string_view what) {
  return ConfigError(path, absl::StrCat(what, " are not supported yet"),
                     absl::StatusCode::kUnimplemented);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_NOT_SUPPORTED_H_
