// Errors of values that people or peers give.
#ifndef PACELINE_COMMON_BASE_UNEXPECTED_VALUE_H_
#define PACELINE_COMMON_BASE_UNEXPECTED_VALUE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_text.h"

namespace paceline {

// InvalidArgument: `--name: "a/b"; expected letters and digits`. The value,
// which may be hostile, is made safe by PeerText.
inline absl::Status UnexpectedValue(absl::string_view field,
                                    absl::string_view value,
                                    absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": \"", PeerText(value), "\"; expected ", expected));
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_UNEXPECTED_VALUE_H_
