#include "common/config/json_escapes.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace paceline {
namespace {

constexpr size_t kEscapeSize = 6;

// Whether `text` begins with an escape such as \ud83d whose code is in [first,
// first + 0x400); `code` gets the code.
bool TakesSurrogate(absl::string_view text, uint32_t first, uint32_t& code) {
  return text.size() >= kEscapeSize && text[0] == '\\' && text[1] == 'u' &&
         absl::SimpleHexAtoi(text.substr(2, 4), &code) && code >= first &&
         code < first + 0x400;
}

}  // namespace

std::string JoinSurrogates(absl::string_view json) {
  constexpr uint32_t kHigh = 0xD800;
  constexpr uint32_t kLow = 0xDC00;
  std::string joined;
  for (size_t i = 0; i < json.size();) {
    uint32_t high = 0;
    uint32_t low = 0;
    if (TakesSurrogate(json.substr(i), kHigh, high) &&
        TakesSurrogate(json.substr(i + kEscapeSize), kLow, low)) {
      absl::StrAppendFormat(&joined, "\\U%08x",
                            0x10000 + ((high - kHigh) << 10) + (low - kLow));
      i += 2 * kEscapeSize;
      continue;
    }
    // An escaped backslash does not start another escape.
    const size_t size = json[i] == '\\' ? 2 : 1;
    absl::StrAppend(&joined, json.substr(i, size));
    i += size;
  }
  return joined;
}

}  // namespace paceline
