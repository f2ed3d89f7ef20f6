#include "common/base/relative_path.h"

#include "absl/strings/str_split.h"

namespace paceline {

bool StaysBelow(absl::string_view path) {
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == ".." ||
        part.find('\0') != absl::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace paceline
