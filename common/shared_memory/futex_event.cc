#include "common/shared_memory/futex_event.h"

#include <algorithm>

#include "common/base/clock.h"
#include "common/limits.h"
#include "common/shared_memory/futex.h"

namespace paceline {

void FutexEvent::Signal() {
  // Sequentially consistent, like is_asleep_: either this thread sees that the
  // other one sleeps, or the other one sees the new count before it sleeps.
  signals_.fetch_add(1);
  if (is_asleep_.load() != 0) FutexWake(signals_);
}

void FutexEvent::Wait(uint32_t signals, absl::Time deadline,
                      absl::Duration spin) {
  const absl::Time sleep_at = MonotonicNow() + spin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (this->signals() != signals) return;
      __builtin_ia32_pause();
    }
  } while (MonotonicNow() < sleep_at);
  is_asleep_ = 1;
  const absl::Time wake_at =
      std::min(deadline, MonotonicNow() + limits::kFutexSleep);
  absl::Duration left = wake_at - MonotonicNow();
  while (signals_.load() == signals && left > absl::ZeroDuration()) {
    FutexWait(signals_, signals, left);
    left = wake_at - MonotonicNow();
  }
  is_asleep_ = 0;
}

}  // namespace paceline
