#include "coordinator/service/shared_queue.h"

#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Answers whose time has come wait for the next tick. With thousands of
// daemons, rare ticks would send hundreds of answers at once, and let others
// wait.
constexpr absl::Duration kTickInterval = absl::Milliseconds(20);
// Between two ticks, unless the process was stopped, or its machine.
constexpr absl::Duration kMaxGap = absl::Seconds(5);

}  // namespace

absl::StatusOr<std::unique_ptr<SharedQueue>> SharedQueue::Open(
    const JobQueueOptions& options, std::unique_ptr<QueueStore> store) {
  ASSIGN_OR_RETURN(const StoredQueue stored, store->Load());
  ASSIGN_OR_RETURN(std::unique_ptr<JobQueue> queue,
                   JobQueue::Create(options, stored.jobs, stored.daemons,
                                    stored.last_number, absl::Now()));
  return std::unique_ptr<SharedQueue>(
      new SharedQueue(std::move(queue), std::move(store)));
}

SharedQueue::SharedQueue(std::unique_ptr<JobQueue> queue,
                         std::unique_ptr<QueueStore> store)
    : queue_(std::move(queue)),
      store_(std::move(store)),
      ticker_(kTickInterval, [this] { Tick(); }) {}

SharedQueue::Books SharedQueue::BooksNow() {
  return {*queue_, *store_, start_ + (MonotonicNow() - monotonic_start_)};
}

void SharedQueue::Await(const std::string& news, absl::Duration timeout,
                        bool is_news, Attempt attempt,
                        std::function<void(const absl::Status&)> fail) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    Waiter waiter = {BooksNow().now + timeout, std::move(attempt),
                     std::move(fail)};
    const bool is_answered = Try(waiter, /*is_last_try=*/!lets_wait_);
    CHECK(is_answered || lets_wait_) << "no answer at the last try";
    if (is_news) TryAll(news);
    if (!is_answered) Add(news, std::move(waiter));
    answers = Commit();
  }
  Send(answers);
}

void SharedQueue::Wake(const std::string& news) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    TryAll(news);
    answers = Commit();
  }
  Send(answers);
}

void SharedQueue::EndWaits() {
  Answers answers;
  {
    MutexLock lock(mutex_);
    lets_wait_ = false;
    EndWaitsUntil(absl::InfiniteFuture());
    answers = Commit();
  }
  Send(answers);
}

absl::Status SharedQueue::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

SharedQueue::Answers SharedQueue::Commit() {
  Answers stored;
  while (true) {
    const std::vector<std::string> news = Store();
    for (Answer& answer : std::exchange(answers_, {})) {
      if (failure_.ok()) {
        stored.push_back(std::move(answer.send));
      } else {
        stored.push_back(
            [fail = std::move(answer.fail), why = failure_] { fail(why); });
      }
    }
    if (news.empty()) return stored;
    for (const std::string& each : news) TryAll(each);
  }
}

void SharedQueue::Send(const Answers& answers) {
  for (const std::function<void()>& send : answers) send();
}

std::vector<std::string> SharedQueue::Store() {
  const std::vector<QueueAction> actions = queue_->TakeActions(BooksNow().now);
  if (failure_.ok()) {
    const absl::Status stored = store_->Apply(actions);
    // To others the coordinator is away: another one may do better.
    if (!stored.ok()) failure_ = absl::UnavailableError(stored.message());
  }
  std::vector<std::string> news;
  for (const QueueAction& action : actions) {
    if (const auto* job = std::get_if<StoreJob>(&action)) {
      news.push_back(NewsOfJob(job->record.id()));
      // Where a job ends, so do its logs.
      news.push_back(NewsOfLogs(job->record.id()));
    } else if (const auto* gone = std::get_if<RemoveJob>(&action)) {
      news.push_back(NewsOfJob(gone->id));
      news.push_back(NewsOfLogs(gone->id));
    } else if (const auto* orders = std::get_if<OrdersChanged>(&action)) {
      news.push_back(NewsOfDaemon(orders->daemon));
    }
  }
  return news;
}

void SharedQueue::TryAll(const std::string& news) {
  for (Waiter& waiter : waiters_.TakeNews(news)) {
    if (!Try(waiter, /*is_last_try=*/false)) Add(news, std::move(waiter));
  }
}

void SharedQueue::Add(const std::string& news, Waiter waiter) {
  const absl::Time deadline = waiter.deadline;
  waiters_.Add(news, deadline, std::move(waiter));
}

bool SharedQueue::Try(const Waiter& waiter, bool is_last_try) {
  Books books = BooksNow();
  std::function<void()> send = waiter.attempt(books, is_last_try);
  if (send == nullptr) return false;
  answers_.push_back({std::move(send), waiter.fail});
  return true;
}

void SharedQueue::Tick() {
  Answers answers;
  {
    MutexLock lock(mutex_);
    const absl::Time now = BooksNow().now;
    const absl::Duration gap = now - std::exchange(last_tick_, now);
    if (gap > kMaxGap) queue_->StoodStill(gap);
    queue_->Tick(now);
    EndWaitsUntil(now);
    answers = Commit();
  }
  Send(answers);
}

void SharedQueue::EndWaitsUntil(absl::Time deadline) {
  for (const Waiter& waiter : waiters_.TakeDue(deadline)) {
    CHECK(Try(waiter, /*is_last_try=*/true)) << "no answer at the last try";
  }
}

}  // namespace paceline
