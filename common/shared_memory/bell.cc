#include "common/shared_memory/bell.h"

#include <algorithm>

#include "common/base/clock.h"
#include "common/limits.h"
#include "common/shared_memory/futex.h"

namespace paceline {

void Bell::Ring() {
  // Sequentially consistent, as is_asleep_: either this thread sees that the
  // other sleeps, or the other sees the new count before it does.
  rings_.fetch_add(1);
  if (is_asleep_.load() != 0) FutexWake(rings_);
}

void Bell::Wait(uint32_t rings, absl::Time deadline, absl::Duration spin) {
  const absl::Time sleep_at = MonotonicNow() + spin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (this->rings() != rings) return;
      __builtin_ia32_pause();
    }
  } while (MonotonicNow() < sleep_at);
  is_asleep_ = 1;
  const absl::Time wake_at =
      std::min(deadline, MonotonicNow() + limits::kBellSleep);
  absl::Duration left = wake_at - MonotonicNow();
  while (rings_.load() == rings && left > absl::ZeroDuration()) {
    FutexWait(rings_, rings, left);
    left = wake_at - MonotonicNow();
  }
  is_asleep_ = 0;
}

}  // namespace paceline
