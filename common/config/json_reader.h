// Reads JSON where only JSON will do, such as TF_CONFIG.
#ifndef PACELINE_COMMON_CONFIG_JSON_READER_H_
#define PACELINE_COMMON_CONFIG_JSON_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// The JSON of `text`, within the limits of limits.h. A byte order mark is
// taken; repeated keys are refused. Values have no lines. Errors are
// InvalidArgument, with line and column for bad JSON, or ResourceExhausted
// above a limit, and start with "<source>: ".
absl::StatusOr<Value> ReadJson(absl::string_view text,
                               const std::string& source, int64_t max_bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_JSON_READER_H_
