// How long tests wait.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TIME_LIMIT_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TIME_LIMIT_H_

#include <functional>

#include "absl/time/time.h"

namespace paceline {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kTimeScale = 4;
#else
inline constexpr int kTimeScale = 1;
#endif

// Within which a small job ends, on a busy machine of two cores.
inline constexpr absl::Duration kJobLimit = absl::Seconds(60 * kTimeScale);

// Within which a job ends when a task is lost that it cannot do without: what
// Paceline promises. Not scaled: its time limits are the same in all builds.
inline constexpr absl::Duration kFailureLimit = absl::Seconds(15);

// Looks every 5 ms whether `condition` holds; false after `timeout`.
bool WaitUntil(absl::Duration timeout, const std::function<bool()>& condition);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TIME_LIMIT_H_
