// Waiters, by the news that they wait for, and by their deadlines.
#ifndef PACELINE_COORDINATOR_SERVICE_WAIT_LIST_H_
#define PACELINE_COORDINATOR_SERVICE_WAIT_LIST_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace paceline {

// Takes out a waiter in logarithmic time, however many there are. Not
// thread-safe.
template <typename Waiter>
class WaitList {
 public:
  void Add(const std::string& news, absl::Time deadline, Waiter waiter) {
    const uint64_t number = ++last_number_;
    by_deadline_.emplace(Key{deadline, number}, news);
    by_news_[news].emplace(Key{deadline, number}, std::move(waiter));
  }

  // Removes those that wait for the news, and returns them by their deadlines.
  std::vector<Waiter> TakeNews(const std::string& news) {
    const auto found = by_news_.find(news);
    if (found == by_news_.end()) return {};
    std::vector<Waiter> taken;
    for (auto& [key, waiter] : found->second) {
      by_deadline_.erase(key);
      taken.push_back(std::move(waiter));
    }
    by_news_.erase(found);
    return taken;
  }

  // Removes those whose deadline is not after `now`, and returns them by their
  // deadlines.
  std::vector<Waiter> TakeDue(absl::Time now) {
    std::vector<Waiter> due;
    while (!by_deadline_.empty() && by_deadline_.begin()->first.first <= now) {
      const auto first = by_deadline_.begin();
      const auto found = by_news_.find(first->second);
      const auto waiter = found->second.find(first->first);
      due.push_back(std::move(waiter->second));
      found->second.erase(waiter);
      if (found->second.empty()) by_news_.erase(found);
      by_deadline_.erase(first);
    }
    return due;
  }

 private:
  // Deadline, and number of the arrival.
  using Key = std::pair<absl::Time, uint64_t>;

  uint64_t last_number_ = 0;
  // What they wait for.
  std::map<Key, std::string> by_deadline_;
  absl::flat_hash_map<std::string, std::map<Key, Waiter>> by_news_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_WAIT_LIST_H_
