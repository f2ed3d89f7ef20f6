#include "common/base/utf8.h"

namespace paceline {
namespace {

// Number of bytes after a lead byte, and the valid range of the first of them,
// which excludes overlong forms, surrogates, and code points above U+10FFFF.
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

Utf8Character FirstCharacter(absl::string_view text) {
  constexpr Utf8Character kInvalid;
  const auto lead = static_cast<uint8_t>(text[0]);
  const Sequence sequence = SequenceOf(lead);
  const auto size = static_cast<size_t>(sequence.followers + 1);
  if (sequence.followers < 0 || size > text.size()) return kInvalid;
  // Removes the length bits of the lead byte: leading ones and a zero.
  uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto follower = static_cast<uint8_t>(text[i]);
    const uint8_t least = i == 1 ? sequence.least : 0x80;
    const uint8_t most = i == 1 ? sequence.most : 0xBF;
    if (follower < least || follower > most) return kInvalid;
    code = code << 6 | (follower & 0x3Fu);
  }
  return {size, code, true};
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const Utf8Character first = FirstCharacter(text);
    if (!first.is_valid) return false;
    text.remove_prefix(first.size);
  }
  return true;
}

}  // namespace paceline
