#include "coordinator/service/progress_board.h"

#include <algorithm>

namespace paceline {
namespace {

// A follower asks again within kServicePoll, or has gone.
constexpr absl::Duration kFollowed = absl::Seconds(10);

}  // namespace

void ProgressBoard::Put(const std::string& job, uint32_t generation,
                        const v1::JobProgress& progress, IsOpen is_open) {
  MutexLock lock(mutex_);
  At(job, is_open).entry = {generation, ++last_number_, progress};
}

std::optional<ProgressBoard::Entry> ProgressBoard::Find(
    const std::string& job, uint32_t generation) const {
  MutexLock lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.entry.number == 0 ||
      found->second.entry.generation != generation) {
    return std::nullopt;
  }
  return found->second.entry;
}

void ProgressBoard::Follow(const std::string& job, absl::Time now,
                           IsOpen is_open) {
  MutexLock lock(mutex_);
  At(job, is_open).last_followed = now;
}

bool ProgressBoard::IsFollowed(const std::string& job, absl::Time now) const {
  MutexLock lock(mutex_);
  const auto found = jobs_.find(job);
  return found != jobs_.end() && now - found->second.last_followed < kFollowed;
}

size_t ProgressBoard::size() const {
  MutexLock lock(mutex_);
  return jobs_.size();
}

ProgressBoard::Job& ProgressBoard::At(const std::string& job, IsOpen is_open) {
  if (jobs_.size() >= most_ && !jobs_.contains(job)) {
    std::erase_if(jobs_,
                  [&](const auto& each) { return !is_open(each.first); });
    most_ = std::max(kFew, 2 * jobs_.size());
  }
  return jobs_[job];
}

std::function<bool(const std::string& job)> OpenJobsOf(const JobQueue& queue) {
  return [&queue](const std::string& job) {
    const v1::JobRecord* const record = queue.FindJob(job);
    return record != nullptr && !HasEnded(record->state());
  };
}

}  // namespace paceline
