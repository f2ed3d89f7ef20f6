// Reads text that must be JSON and not YAML, such as TF_CONFIG.
#ifndef PACELINE_COMMON_CONFIG_JSON_READER_H_
#define PACELINE_COMMON_CONFIG_JSON_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// Parses JSON, within the limits of limits.h. Accepts a byte order mark;
// refuses repeated keys. Values have no line numbers. Errors start with
// "<source>: ". They are InvalidArgument, with line and column for malformed
// JSON, or ResourceExhausted above a limit.
absl::StatusOr<Value> ReadJson(absl::string_view text,
                               const std::string& source, int64_t max_bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_JSON_READER_H_
