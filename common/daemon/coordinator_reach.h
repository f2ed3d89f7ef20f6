// Whether a call failed because the coordinator was not there.
#ifndef PACELINE_COMMON_DAEMON_COORDINATOR_REACH_H_
#define PACELINE_COMMON_DAEMON_COORDINATOR_REACH_H_

#include "absl/status/status.h"

namespace paceline {

// Such a call is worth another try, however long the coordinator is away.
inline bool IsUnreachable(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_COORDINATOR_REACH_H_
