// Makes what a user's program printed safe to show.
#ifndef PACELINE_COMMON_BASE_PRINTED_TEXT_H_
#define PACELINE_COMMON_BASE_PRINTED_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// `text` for a log or a terminal: what PeerText escapes is escaped, but for
// newlines and tabs, and nothing is cut.
std::string PrintedText(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PRINTED_TEXT_H_
