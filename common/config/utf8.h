// UTF-8, which protobuf's strings must be.
#ifndef PACELINE_COMMON_CONFIG_UTF8_H_
#define PACELINE_COMMON_CONFIG_UTF8_H_

#include "absl/strings/string_view.h"

namespace paceline {

// Whether `text` is well-formed UTF-8 (Unicode 15, table 3-7).
bool IsUtf8(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_UTF8_H_
