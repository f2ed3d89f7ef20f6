// A token bucket: a limit on a rate.
#ifndef PACELINE_COORDINATOR_SERVICE_TOKEN_BUCKET_H_
#define PACELINE_COORDINATOR_SERVICE_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace paceline {

// Holds the tokens of one second, and is full at first. Who finds some may take
// any number: the bucket then owes tokens, and nobody finds any until it has
// got these. Not thread-safe.
class TokenBucket {
 public:
  // Above 0.
  explicit TokenBucket(uint64_t tokens_per_second)
      : tokens_per_second_(static_cast<double>(tokens_per_second)) {}

  // How long until the bucket owes nothing; zero: more may be taken.
  absl::Duration TimeToWait(absl::Time now) const {
    return std::max(paid_at_ - now, absl::ZeroDuration());
  }
  void Take(uint64_t tokens, absl::Time now) {
    paid_at_ = std::max(paid_at_, now - kCapacity) +
               absl::Seconds(static_cast<double>(tokens) / tokens_per_second_);
  }
  bool IsFull(absl::Time now) const { return paid_at_ <= now - kCapacity; }

 private:
  // In the time that it takes to fill the bucket.
  static constexpr absl::Duration kCapacity = absl::Seconds(1);

  double tokens_per_second_;
  // When the bucket owes nothing. Of one that holds tokens, it is past.
  absl::Time paid_at_ = absl::InfinitePast();
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_TOKEN_BUCKET_H_
