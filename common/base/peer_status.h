// Errors from other processes.
#ifndef PACELINE_COMMON_BASE_PEER_STATUS_H_
#define PACELINE_COMMON_BASE_PEER_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// An error with a google.rpc.Code and a message, which is made safe by
// PeerErrorText. OK for code 0; Unknown for an invalid code.
absl::Status MakePeerStatus(int code, absl::string_view message);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_PEER_STATUS_H_
