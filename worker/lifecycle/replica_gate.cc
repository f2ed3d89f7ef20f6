#include "worker/lifecycle/replica_gate.h"

#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "glog/logging.h"

namespace paceline {

void ReplicaGate::Arrive() {
  MutexLock lock(mutex_);
  CHECK_GT(missing_, 0);
  --missing_;
  changed_.NotifyAll();
}

void ReplicaGate::Abandon(const absl::Status& error) {
  CHECK(!error.ok());
  MutexLock lock(mutex_);
  error_.Update(error);
  changed_.NotifyAll();
}

absl::Status ReplicaGate::Await(absl::Duration timeout) {
  const absl::Time deadline = MonotonicNow() + timeout;
  MutexLock lock(mutex_);
  while (missing_ > 0 && error_.ok()) {
    const absl::Duration left = deadline - MonotonicNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat(missing_,
                       " replicas of this worker did not get their first "
                       "variables within ",
                       absl::FormatDuration(timeout)));
    }
    changed_.WaitFor(mutex_, left);
  }
  return error_;
}

}  // namespace paceline
