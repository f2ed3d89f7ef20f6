// What one user's jobs may hold at a time.
#ifndef PACELINE_COORDINATOR_QUEUE_QUOTA_H_
#define PACELINE_COORDINATOR_QUEUE_QUOTA_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "coordinator/queue/resources.h"

namespace paceline {

// The user in Quotas whose quota each has who is not there.
inline constexpr char kOtherUsers[] = "*";

struct Quota {
  // No limit.
  static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

  Resources resources = {kAny, kAny, kAny, kAny};
  int64_t jobs = kAny;

  // Whether one may hold so many jobs and resources.
  bool Allows(int64_t held_jobs, const Resources& held) const;
  // "2 jobs, 4 cores, 8 GiB, 0 GPUs"; what has no limit is left out.
  std::string ToString() const;
};

// By user.
using Quotas = std::map<std::string, Quota>;

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_QUOTA_H_
