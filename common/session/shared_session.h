// A Session shared by RPC handlers and the leader's loop.
#ifndef PACELINE_COMMON_SESSION_SHARED_SESSION_H_
#define PACELINE_COMMON_SESSION_SHARED_SESSION_H_

#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/session/session.h"

namespace paceline {

// Thread-safe. Events go in under one lock; the actions they cause are
// collected for the leader's loop, which carries them out.
class SharedSession {
 public:
  // Tries to answer a waiting call; returns whether it did. With `last_try` it
  // must. Runs under the lock.
  using Waiter =
      std::function<bool(Session& session, absl::Time now, bool last_try)>;

  explicit SharedSession(std::unique_ptr<Session> session)
      : session_(std::move(session)) {}

  // Feeds an event in: calls `event(session, now)` and returns what it returns.
  template <typename Event>
  auto Handle(Event&& event) {
    MutexLock lock(mutex_);
    const Notifier notifier(*this);
    return event(*session_, MonotonicNow());
  }

  // Tries `waiter` now, then whenever the session says so, and for the last
  // time after `patience`.
  void Await(Waiter waiter, absl::Duration patience);

  // Waits at most `timeout` for actions; lets time pass in the session.
  std::vector<Action> TakeActions(absl::Duration timeout);

  // Answers all waiting calls; later ones are answered at once.
  void Close();

 private:
  struct Waiting {
    Waiter waiter;
    absl::Time until;
  };
  // Collects the actions of an event when it is over.
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

#endif  // PACELINE_COMMON_SESSION_SHARED_SESSION_H_
