// UTF-8, which strings in protobuf and JSON must be.
#ifndef PACELINE_COMMON_BASE_UTF8_H_
#define PACELINE_COMMON_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace paceline {

// The first character of a text.
struct Utf8Character {
  // Its size in bytes; 1 if the text begins with an invalid byte.
  size_t size = 1;
  // Its code point; 0 if it is invalid.
  uint32_t code = 0;
  bool is_valid = false;
};

// The first character of `text`, which must not be empty. Validity is that of
// Unicode 15, table 3-7.
Utf8Character FirstCharacter(absl::string_view text);

// Whether `text` is well-formed UTF-8.
bool IsUtf8(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_UTF8_H_
