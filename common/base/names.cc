#include "common/base/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/unexpected_value.h"

namespace paceline {

bool IsSafeName(absl::string_view name, size_t max_bytes) {
  return !name.empty() && name.size() <= max_bytes && name.front() != '.' &&
         name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::Status CheckSafeName(absl::string_view field, absl::string_view name,
                           size_t max_bytes) {
  if (IsSafeName(name, max_bytes)) return absl::OkStatus();
  return UnexpectedValue(
      field, name,
      absl::StrCat("1 to ", max_bytes,
                   " letters, digits, \".\", \"_\" and \"-\", of which the "
                   "first is no \".\" and no \"-\""));
}

bool IsVisibleAscii(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(c); });
}

absl::Status CheckVisibleAscii(absl::string_view field,
                               absl::string_view text) {
  if (IsVisibleAscii(text)) return absl::OkStatus();
  return UnexpectedValue(field, text,
                         absl::StrCat("1 to ", kMaxNameBytes,
                                      " letters, digits and signs of ASCII"));
}

}  // namespace paceline
