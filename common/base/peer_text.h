// Makes text from other processes safe to print.
#ifndef PACELINE_COMMON_BASE_PEER_TEXT_H_
#define PACELINE_COMMON_BASE_PEER_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// `text` for a log, a terminal, an error or a file: well-formed UTF-8, in which
// control characters, characters that change the direction of writing, and
// invalid bytes are escaped ("\n", "\x1b", "\u202e"). A text of more than
// limits::kMaxPeerTextCharacters is cut to its beginning and end, with "…"
// between them. Idempotent.
std::string PeerText(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_TEXT_H_
