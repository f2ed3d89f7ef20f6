// Handles the one difference between strings of JSON and YAML.
#ifndef PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_
#define PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Replaces surrogate pairs, by which JSON escapes characters beyond U+FFFF
// ("\ud83d\ude00"), by YAML's escape ("\U0001f600"). Does not change line
// numbers.
std::string JoinSurrogates(absl::string_view json);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_
