// The clock for all deadlines and durations.
#ifndef PACELINE_COMMON_BASE_CLOCK_H_
#define PACELINE_COMMON_BASE_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace paceline {

// The machine's monotonic clock, which nobody can set. Only differences between
// its values have a meaning; the date does not.
inline absl::Time MonotonicNow() {
  return absl::UnixEpoch() +
         absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_CLOCK_H_
