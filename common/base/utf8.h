// UTF-8, which protobuf's strings and JSON's must be.
#ifndef PACELINE_COMMON_BASE_UTF8_H_
#define PACELINE_COMMON_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace paceline {

// A character at the beginning of a text.
struct Utf8Character {
  // Its bytes; 1 where the text begins with a byte that begins no character.
  size_t size = 1;
  // Its code point; nothing where it is not valid.
  uint32_t code = 0;
  bool is_valid = false;
};

// The first character of `text`, which is not empty; well-formed by Unicode 15,
// table 3-7.
Utf8Character FirstCharacter(absl::string_view text);

// Whether `text` is well-formed UTF-8.
bool IsUtf8(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_UTF8_H_
