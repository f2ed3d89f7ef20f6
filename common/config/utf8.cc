#include "common/config/utf8.h"

#include <cstddef>
#include <cstdint>

namespace paceline {
namespace {

// Bytes that follow a lead byte, and the range of the first of them, which
// keeps out overlong forms, surrogates and what is above U+10FFFF.
struct Sequence {
  int followers;
  uint8_t least = 0x80;
  uint8_t most = 0xBF;
};

Sequence SequenceOf(uint8_t lead) {
  if (lead < 0x80) return {0};
  if (lead < 0xC2) return {-1};
  if (lead < 0xE0) return {1};
  if (lead == 0xE0) return {2, 0xA0};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead < 0xF0) return {2};
  if (lead == 0xF0) return {3, 0x90};
  if (lead < 0xF4) return {3};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {-1};
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    Sequence sequence = SequenceOf(static_cast<uint8_t>(text[i]));
    if (sequence.followers < 0) return false;
    for (; sequence.followers > 0; --sequence.followers) {
      if (++i == text.size()) return false;
      const auto follower = static_cast<uint8_t>(text[i]);
      if (follower < sequence.least || follower > sequence.most) return false;
      sequence.least = 0x80;
      sequence.most = 0xBF;
    }
  }
  return true;
}

}  // namespace paceline
