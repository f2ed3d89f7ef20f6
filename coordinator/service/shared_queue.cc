#include "coordinator/service/shared_queue.h"

#include <iterator>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// JobQueue::Tick wants to be called as often.
constexpr absl::Duration kTickInterval = absl::Milliseconds(100);
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
                        Attempt attempt,
                        std::function<void(const absl::Status&)> fail) {
  MutexLock lock(mutex_);
  Waiter waiter = {BooksNow().now + timeout, std::move(attempt),
                   std::move(fail)};
  if (!Try(waiter, /*is_last_try=*/!lets_wait_)) {
    waiters_.emplace(news, std::move(waiter));
  }
  Commit();
}

void SharedQueue::Wake(const std::string& news) {
  MutexLock lock(mutex_);
  TryAll(news);
  Commit();
}

void SharedQueue::EndWaits() {
  MutexLock lock(mutex_);
  lets_wait_ = false;
  for (const auto& [news, waiter] : waiters_) Try(waiter, /*is_last_try=*/true);
  waiters_.clear();
  Commit();
}

absl::Status SharedQueue::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

void SharedQueue::Commit() {
  while (true) {
    const std::vector<std::string> news = Store();
    for (const Answer& answer : answers_) {
      failure_.ok() ? answer.send() : answer.fail(failure_);
    }
    answers_.clear();
    if (news.empty()) return;
    for (const std::string& each : news) TryAll(each);
  }
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
  const auto [begin, end] = waiters_.equal_range(news);
  for (auto waiter = begin; waiter != end;) {
    waiter = Try(waiter->second, /*is_last_try=*/false) ? waiters_.erase(waiter)
                                                        : std::next(waiter);
  }
}

bool SharedQueue::Try(const Waiter& waiter, bool is_last_try) {
  Books books = BooksNow();
  std::function<void()> send = waiter.attempt(books, is_last_try);
  if (send == nullptr) return false;
  answers_.push_back({std::move(send), waiter.fail});
  return true;
}

void SharedQueue::Tick() {
  MutexLock lock(mutex_);
  const absl::Time now = BooksNow().now;
  const absl::Duration gap = now - std::exchange(last_tick_, now);
  if (gap > kMaxGap) queue_->StoodStill(gap);
  queue_->Tick(now);
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->second.deadline > now) {
      ++waiter;
      continue;
    }
    Try(waiter->second, /*is_last_try=*/true);
    waiter = waiters_.erase(waiter);
  }
  Commit();
}

}  // namespace paceline
