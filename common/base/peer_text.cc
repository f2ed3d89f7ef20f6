#include "common/base/peer_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/peer_error_text.h"
#include "common/base/utf8.h"
#include "common/limits.h"

namespace paceline {
namespace {

// U+0000 to U+001F, U+007F to U+009F, line and paragraph separators, and
// characters that change the direction of writing.
bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
         code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

// Removes the first character of `text`, and appends it to `out`, escaped if
// needed.
void AppendFirst(absl::string_view& text, std::string& out) {
  const Utf8Character first = FirstCharacter(text);
  const absl::string_view bytes = text.substr(0, first.size);
  text.remove_prefix(first.size);
  if (!first.is_valid) {
    absl::StrAppendFormat(&out, "\\x%02x", static_cast<uint8_t>(bytes[0]));
  } else if (first.code == '\n') {
    out += "\\n";
  } else if (first.code == '\t') {
    out += "\\t";
  } else if (!IsControl(first.code)) {
    absl::StrAppend(&out, bytes);
  } else if (first.code < 0x80) {
    absl::StrAppendFormat(&out, "\\x%02x", first.code);
  } else {
    absl::StrAppendFormat(&out, "\\u%04x", first.code);
  }
}

std::string Escaped(absl::string_view text) {
  std::string escaped;
  while (!text.empty()) AppendFirst(text, escaped);
  return escaped;
}

// Whether this byte of well-formed UTF-8 is the first of a character.
bool Begins(char byte) { return (byte & 0xC0) != 0x80; }

// Byte offset of character number `number` of `text`, which must exist.
size_t BeginOf(int64_t number, absl::string_view text) {
  size_t i = 0;
  while (!Begins(text[i]) || number-- > 0) ++i;
  return i;
}

// At most `most` characters of `text`, the last `end` of which are its own last
// ones, where errors usually have their reason.
std::string Shortened(absl::string_view text, int64_t most, int64_t end) {
  // A character has at most 4 bytes, so it is enough to look at this many bytes
  // of either end.
  const auto enough = static_cast<size_t>(4 * most);
  std::string escaped =
      text.size() <= 2 * enough
          ? Escaped(text)
          : absl::StrCat(Escaped(text.substr(0, enough)),
                         Escaped(text.substr(text.size() - enough)));
  const int64_t count = std::count_if(escaped.begin(), escaped.end(), Begins);
  if (count <= most) return escaped;
  // The "…" counts as a character, too.
  const size_t cut = BeginOf(most - end - 1, escaped);
  return absl::StrCat(escaped.substr(0, cut), "…",
                      escaped.substr(BeginOf(count - end, escaped)));
}

}  // namespace

std::string PeerText(absl::string_view text) {
  return Shortened(text, limits::kMaxPeerTextCharacters, /*end=*/80);
}

std::string PeerErrorText(absl::string_view text) {
  return Shortened(text, kMaxPeerErrorCharacters,
                   /*end=*/kMaxPeerErrorCharacters / 2);
}

}  // namespace paceline
