// Reads YAML (of which JSON is a subset) with line numbers.
#ifndef PACELINE_COMMON_CONFIG_YAML_READER_H_
#define PACELINE_COMMON_CONFIG_YAML_READER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// Parses a single document by YAML's core schema: `yes` and quoted "1" are
// strings, 0x1F and 0o17 are ints, a whole number beyond int64 is a double.
// Aliases are expanded. Refuses repeated keys, keys that are not scalars, tags
// other than !!str, control characters, invalid UTF-8, a second document, and
// anything above limits.h. `max_bytes` limits the text, also after aliases are
// expanded.
//
// Errors start with "<source>:<line>: ". They are InvalidArgument, or
// ResourceExhausted above a limit.
absl::StatusOr<Value> ReadYaml(absl::string_view text,
                               const std::string& source, int64_t max_bytes);

// The value of a plain (unquoted) scalar.
Value ResolvePlainScalar(const std::string& text);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_YAML_READER_H_
