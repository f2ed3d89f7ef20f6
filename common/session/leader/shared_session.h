// A Session that RPC handlers and the leader's loop share.
#ifndef PACELINE_COMMON_SESSION_LEADER_SHARED_SESSION_H_
#define PACELINE_COMMON_SESSION_LEADER_SHARED_SESSION_H_

#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/session/machine/session.h"

namespace paceline {

// Thread-safe. One lock serialises all events. Their actions are collected for
// the leader's loop, which carries them out.
class SharedSession {
 public:
  // Tries to answer a waiting call; returns whether it did. With `last_try` it
  // must answer. Called with the lock held.
  using Waiter =
      std::function<bool(Session& session, absl::Time now, bool last_try)>;

  explicit SharedSession(std::unique_ptr<Session> session)
      : session_(std::move(session)) {}

  // Calls `event(session, now)` with the lock held, and returns its result.
  template <typename Event>
  auto Handle(Event&& event) {
    MutexLock lock(mutex_);
    const Notifier notifier(*this);
    return event(*session_, MonotonicNow());
  }

  // Calls `waiter` now, then on each WakeWaiters of the session, and for the
  // last time after `patience`. Does not block.
  void Await(Waiter waiter, absl::Duration patience);

  // Blocks for at most `timeout` until there are actions. Calls Session::Tick.
  std::vector<Action> TakeActions(absl::Duration timeout);

  // Gives all waiting calls their last try; later ones get it at once.
  void Close();

 private:
  struct Waiting {
    Waiter waiter;
    absl::Time until;
  };
  // Collects the session's actions when an event is over.
  class Notifier {
   public:
    explicit Notifier(SharedSession& shared) : shared_(shared) {}
    ~Notifier() ABSL_NO_THREAD_SAFETY_ANALYSIS { shared_.Collect(); }

   private:
    SharedSession& shared_;
  };

  void Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TryWaiters() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar acted_;
  std::unique_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
  std::vector<Action> actions_ ABSL_GUARDED_BY(mutex_);
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_SHARED_SESSION_H_
