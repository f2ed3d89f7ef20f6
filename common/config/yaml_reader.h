// Reads YAML (or JSON, which is YAML too) with its line numbers.
#ifndef PACELINE_COMMON_CONFIG_YAML_READER_H_
#define PACELINE_COMMON_CONFIG_YAML_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// The one document of `text`, by YAML's core schema: `yes` is a string, "1"
// quoted is a string, 0x1F and 0o17 are ints, a whole number beyond int64 is a
// double. Aliases are copied in. Refused are repeated keys, keys that are not
// plain text, tags other than !!str, control characters, text that is not
// UTF-8, a second document, and what exceeds limits.h. `max_bytes` bounds the
// text, also after aliases are expanded.
//
// Errors are InvalidArgument, or ResourceExhausted above a limit, and start
// with "<source>:<line>: ".
absl::StatusOr<Value> ReadYaml(absl::string_view text,
                               const std::string& source, int64_t max_bytes);

// The value of one plain (unquoted) scalar.
Value ResolvePlainScalar(const std::string& text);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_YAML_READER_H_
