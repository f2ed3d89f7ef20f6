#include "common/identity/token.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/identity/mac.h"
#include "common/identity/person.h"

namespace paceline {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr int64_t kMaxTokenFileBytes = 1 << 10;

bool IsToken(absl::string_view text) {
  return absl::ConsumePrefix(&text, kTokenPrefix) &&
         text.size() == 2 * kTokenBytes &&
         std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

}  // namespace

std::string DrawToken() {
  return absl::StrCat(kTokenPrefix,
                      absl::BytesToHexString(RandomBytes(kTokenBytes)));
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTokenFileBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the token: ", text.status().message()));
  }
  const absl::string_view token = absl::StripAsciiWhitespace(*text);
  if (IsToken(token)) return std::string(token);
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": this is no token; expected one line with ", kTokenPrefix,
      " and ", 2 * kTokenBytes, " hexadecimal digits"));
}

}  // namespace paceline
