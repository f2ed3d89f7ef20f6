// Text that another process sent, as it may be printed.
#ifndef PACELINE_COMMON_BASE_PEER_TEXT_H_
#define PACELINE_COMMON_BASE_PEER_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// `text` for a log, a terminal, an error or a file: well-formed UTF-8 in which
// control characters, those that change the direction of writing, and bytes
// that are no UTF-8 are escaped ("\n", "\x1b", "\u202e"). Of more than
// limits::kMaxPeerTextCharacters the beginning and the end stay, with "…"
// between them. A text that came through here before stays as it is.
std::string PeerText(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_TEXT_H_
