// Suggests a known word in place of an unknown one.
#ifndef PACELINE_COMMON_CONFIG_SUGGESTION_H_
#define PACELINE_COMMON_CONFIG_SUGGESTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// The closest known word within a small edit distance, ignoring case and
// underscores; null if there is none.
const std::string* Nearest(absl::string_view word,
                           const std::vector<std::string>& known);

// `; did you mean "filters"?` if a known word is close, else `; known: a, b,
// c`, or "" if there are no known words. To be appended to messages such as
// "unknown key".
std::string Suggestion(absl::string_view word,
                       const std::vector<std::string>& known);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_SUGGESTION_H_
