#include "common/session/leader/shared_session.h"

#include <iterator>

#include "common/base/clock.h"

namespace paceline {

void SharedSession::Await(Waiter waiter, absl::Duration patience) {
  MutexLock lock(mutex_);
  const Notifier notifier(*this);
  const absl::Time now = MonotonicNow();
  if (waiter(*session_, now, closed_)) return;
  waiting_.push_back({std::move(waiter), now + patience});
}

std::vector<Action> SharedSession::TakeActions(absl::Duration timeout) {
  MutexLock lock(mutex_);
  session_->Tick(MonotonicNow());
  Collect();
  if (actions_.empty()) {
    acted_.WaitFor(mutex_, timeout);
    session_->Tick(MonotonicNow());
    Collect();
  }
  TryWaiters();
  Collect();
  return std::exchange(actions_, {});
}

void SharedSession::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  TryWaiters();
  Collect();
}

void SharedSession::Collect() {
  std::vector<Action> actions = session_->TakeActions();
  if (actions.empty()) return;
  bool wake = false;
  for (Action& action : actions) {
    if (std::holds_alternative<WakeWaiters>(action)) {
      wake = true;
    } else {
      actions_.push_back(std::move(action));
    }
  }
  acted_.NotifyAll();
  if (wake) TryWaiters();
}

void SharedSession::TryWaiters() {
  const absl::Time now = MonotonicNow();
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const bool answered =
        it->waiter(*session_, now, closed_ || now >= it->until);
    it = answered ? waiting_.erase(it) : std::next(it);
  }
}

}  // namespace paceline
