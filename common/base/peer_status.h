// An error that another process sent.
#ifndef PACELINE_COMMON_BASE_PEER_STATUS_H_
#define PACELINE_COMMON_BASE_PEER_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The error with a google.rpc.Code and a message for people, which goes through
// PeerText. OK for code 0; Unknown for a number that is no code.
absl::Status MakePeerStatus(int code, absl::string_view message);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_STATUS_H_
