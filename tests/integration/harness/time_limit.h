// Timeouts of tests.
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

// Time within which a small job ends, on a busy machine with two cores.
inline constexpr absl::Duration kJobLimit = absl::Seconds(60 * kTimeScale);

// Time within which Paceline promises to end a job that has lost a task that it
// needs. Not scaled, since its time limits are the same in all builds.
inline constexpr absl::Duration kFailureLimit = absl::Seconds(15);

// Polls every 5 ms until `condition` is true; returns false after `timeout`.
bool WaitUntil(absl::Duration timeout, const std::function<bool()>& condition);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TIME_LIMIT_H_
