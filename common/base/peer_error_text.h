// Makes the text of another process's error safe to print.
#ifndef PACELINE_COMMON_BASE_PEER_ERROR_TEXT_H_
#define PACELINE_COMMON_BASE_PEER_ERROR_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Enough for the paths of two files and a sentence.
inline constexpr int kMaxPeerErrorCharacters = 2000;

// As PeerText, but a text of up to kMaxPeerErrorCharacters is kept whole, since
// errors name files. Idempotent.
std::string PeerErrorText(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_ERROR_TEXT_H_
