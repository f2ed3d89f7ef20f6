// Suggests a known word in place of an unknown one.
#ifndef PACELINE_COMMON_CONFIG_SUGGESTION_H_
#define PACELINE_COMMON_CONFIG_SUGGESTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// `; did you mean "filters"?`, with the closest known word within a small edit
// distance, ignoring case and underscores; "" if there is none. To be appended
// to messages such as "unknown key".
std::string DidYouMean(absl::string_view word,
                       const std::vector<std::string>& known);

// The same; if no known word is close, `; known: a, b, c`, or "" if there are
// no known words.
std::string Suggestion(absl::string_view word,
                       const std::vector<std::string>& known);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_SUGGESTION_H_
