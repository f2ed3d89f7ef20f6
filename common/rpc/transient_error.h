// Which errors of calls may pass.
#ifndef PACELINE_COMMON_RPC_TRANSIENT_ERROR_H_
#define PACELINE_COMMON_RPC_TRANSIENT_ERROR_H_

#include "absl/status/status.h"

namespace paceline {

// Whether the callee was not there, or did not answer in time: the same call
// may succeed later, however long that takes.
inline bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_RPC_TRANSIENT_ERROR_H_
