#include "tests/integration/harness/time_limit.h"

#include "absl/time/clock.h"
#include "common/base/clock.h"

namespace paceline {

bool WaitUntil(absl::Duration timeout, const std::function<bool()>& condition) {
  const absl::Time deadline = MonotonicNow() + timeout;
  while (!condition()) {
    if (MonotonicNow() >= deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

}  // namespace paceline
