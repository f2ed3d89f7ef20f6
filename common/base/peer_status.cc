#include "common/base/peer_status.h"

#include "common/base/peer_error_text.h"

namespace paceline {

absl::Status MakePeerStatus(int code, absl::string_view message) {
  constexpr int kMaxCode = static_cast<int>(absl::StatusCode::kUnauthenticated);
  if (code == 0) return absl::OkStatus();
  const bool is_known = code > 0 && code <= kMaxCode;
  return {is_known ? static_cast<absl::StatusCode>(code)
                   : absl::StatusCode::kUnknown,
          PeerErrorText(message)};
}

}  // namespace paceline
