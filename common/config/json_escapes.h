// The one thing in which JSON's strings are not YAML's.
#ifndef PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_
#define PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Replaces the pairs of surrogates by which JSON escapes characters beyond
// U+FFFF ("\ud83d\ude00") by YAML's escape ("\U0001f600"). Lines stay.
std::string JoinSurrogates(absl::string_view json);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_JSON_ESCAPES_H_
