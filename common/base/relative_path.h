// Relative paths that come from peers.
#ifndef PACELINE_COMMON_BASE_RELATIVE_PATH_H_
#define PACELINE_COMMON_BASE_RELATIVE_PATH_H_

#include "absl/strings/string_view.h"

namespace paceline {

// Whether the path stays below the folder in which it begins, as far as its
// text says (links may lead elsewhere): no part of it is empty, "." or "..", or
// has a NUL. So it is neither empty nor absolute.
bool StaysBelow(absl::string_view path);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_RELATIVE_PATH_H_
