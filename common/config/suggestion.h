// The nearest known word to one that is not known.
#ifndef PACELINE_COMMON_CONFIG_SUGGESTION_H_
#define PACELINE_COMMON_CONFIG_SUGGESTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// The known word that is near (edit distance, without regard to case and
// underscores); null if none is.
const std::string* Nearest(absl::string_view word,
                           const std::vector<std::string>& known);

// `; did you mean "filters"?` if a known word is near, else `; known: a, b, c`,
// or nothing if there are no known words. Goes after "unknown key" and the
// like.
std::string Suggestion(absl::string_view word,
                       const std::vector<std::string>& known);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_SUGGESTION_H_
