#include "common/shared_memory/bell.h"

#include "common/base/clock.h"
#include "common/shared_memory/futex.h"

namespace paceline {

void Bell::Ring() {
  // Sequentially consistent, as is_asleep_: either this thread sees that the
  // other sleeps, or the other sees the new count before it does.
  rings_.fetch_add(1);
  if (is_asleep_.load() != 0) FutexWake(rings_);
}

bool Bell::Wait(uint32_t rings, absl::Time deadline, absl::Duration spin) {
  const absl::Time sleep_at = MonotonicNow() + spin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (this->rings() != rings) return true;
      __builtin_ia32_pause();
    }
  } while (MonotonicNow() < sleep_at);
  is_asleep_ = 1;
  absl::Duration left = deadline - MonotonicNow();
  while (rings_.load() == rings && left > absl::ZeroDuration()) {
    FutexWait(rings_, rings, left);
    left = deadline - MonotonicNow();
  }
  is_asleep_ = 0;
  return rings_.load() != rings;
}

}  // namespace paceline
