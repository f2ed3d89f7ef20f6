// The job queue of a running coordinator: shared by the threads that serve
// calls, stored on disk, and asked what time it is.
//
//   call ──> event of the queue ──> actions stored ──> answer
//                                        │
//                                        └──> calls that wait for news try
//                                        again
//
// Nothing is answered before what it tells is on disk.
#ifndef PACELINE_COORDINATOR_SERVICE_SHARED_QUEUE_H_
#define PACELINE_COORDINATOR_SERVICE_SHARED_QUEUE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/ticker.h"
#include "coordinator/queue/job_queue.h"
#include "coordinator/service/wait_list.h"
#include "coordinator/store/queue_store.h"

namespace paceline {

// What calls wait for.
inline std::string NewsOfJob(absl::string_view id) {
  return absl::StrCat("job ", id);
}
inline std::string NewsOfDaemon(absl::string_view name) {
  return absl::StrCat("daemon ", name);
}
inline std::string NewsOfLogs(absl::string_view id) {
  return absl::StrCat("logs ", id);
}

// Thread-safe.
class SharedQueue {
 public:
  // What an event or a question works with, on one thread at a time.
  struct Books {
    JobQueue& queue;
    QueueStore& store;
    absl::Time now;
  };

  // Goes on where the store left off. Errors are those of QueueStore::Load and
  // JobQueue::Create.
  static absl::StatusOr<std::unique_ptr<SharedQueue>> Open(
      const JobQueueOptions& options, std::unique_ptr<QueueStore> store);
  // Runs `event` on the books, stores what it changed, and only then returns
  // its result: an absl::Status, or an absl::StatusOr. If the store fails, the
  // result is Unavailable, and so it is for all later events: what the queue
  // says may not be on disk. Also sends the answers for which others have
  // waited.
  template <typename Event>
  auto Handle(Event event) {
    Answers answers;
    auto result = [&] {
      MutexLock lock(mutex_);
      auto changed = event(BooksNow());
      answers = Commit();
      if (!failure_.ok()) changed = failure_;
      return changed;
    }();
    Send(answers);
    return result;
  }

  // An answer that waits for news. Returns what sends the answer, or null if
  // there is none yet; not null at the last try.
  using Attempt =
      std::function<std::function<void()>(Books& books, bool is_last_try)>;
  // Tries now, after each `news`, and for the last time after `timeout`. What
  // the attempt returns runs after what it changed was stored; `fail` gets the
  // error instead if the store fails. `is_news`: the first attempt is itself
  // news to those that wait already.
  void Await(const std::string& news, absl::Duration timeout, bool is_news,
             Attempt attempt, std::function<void(const absl::Status&)> fail);
  // Lets those who wait for the news try again.
  void Wake(const std::string& news);

  // Ends all calls that wait, and lets none wait from now on. The answers of
  // some may still be sent by other threads.
  void EndWaits();

  // OK, or why the store has failed.
  absl::Status failure() const;

 private:
  struct Waiter {
    absl::Time deadline;
    Attempt attempt;
    std::function<void(const absl::Status&)> fail;
  };
  // An answer that can be sent once everything is stored.
  struct Answer {
    std::function<void()> send;
    std::function<void(const absl::Status&)> fail;
  };
  // Answers that can be sent; without the lock, as it takes its time.
  using Answers = std::vector<std::function<void()>>;

  SharedQueue(std::unique_ptr<JobQueue> queue,
              std::unique_ptr<QueueStore> store);

  Books BooksNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Stores what the queue has to store, and lets those try again who wait for
  // the news, until there is none. Returns all answers.
  Answers Commit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Send(const Answers& answers);
  // Returns the news.
  std::vector<std::string> Store() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TryAll(const std::string& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(const std::string& news, Waiter waiter)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the waiter has an answer.
  bool Try(const Waiter& waiter, bool is_last_try)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tick();
  // Lets those try for the last time whose deadline is not after this.
  void EndWaitsUntil(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  const std::unique_ptr<JobQueue> queue_ ABSL_PT_GUARDED_BY(mutex_);
  const std::unique_ptr<QueueStore> store_ ABSL_PT_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // The queue's time goes on evenly, also if someone sets the clock.
  const absl::Time start_ = absl::Now();
  const absl::Time monotonic_start_ = MonotonicNow();
  absl::Time last_tick_ ABSL_GUARDED_BY(mutex_) = start_;
  bool lets_wait_ ABSL_GUARDED_BY(mutex_) = true;
  WaitList<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  Ticker ticker_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_SHARED_QUEUE_H_
