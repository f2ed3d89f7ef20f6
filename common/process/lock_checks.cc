#include "common/process/lock_checks.h"

#include "absl/synchronization/mutex.h"

namespace paceline {

void TurnOffDeadlockDetection() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace paceline
