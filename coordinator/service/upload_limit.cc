#include "coordinator/service/upload_limit.h"

#include "coordinator/store/file_store.h"

namespace paceline {

UploadLimit::Answer UploadLimit::Ask(const std::string& user, uint64_t bytes,
                                     absl::Time now) {
  const MutexLock lock(mutex_);
  if (!buckets_.contains(user)) {
    // Those of users who pause are as good as new ones.
    std::erase_if(buckets_,
                  [now](const auto& each) { return each.second.IsFull(now); });
  }
  TokenBucket& bucket =
      buckets_.try_emplace(user, bytes_per_second_).first->second;
  const bool is_granted = bucket.TimeToWait(now) == absl::ZeroDuration();
  if (is_granted) bucket.Take(InBlocks(bytes), now);
  return {is_granted, bucket.TimeToWait(now)};
}

size_t UploadLimit::user_count() const {
  const MutexLock lock(mutex_);
  return buckets_.size();
}

}  // namespace paceline
