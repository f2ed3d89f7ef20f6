// Which jobs a service no longer keeps.
#ifndef PACELINE_COORDINATOR_SERVICE_RETENTION_H_
#define PACELINE_COORDINATOR_SERVICE_RETENTION_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace paceline {

struct RetentionLimits {
  // After a job's end.
  absl::Duration age = absl::InfiniteDuration();
  // Of all jobs' files and logs together.
  uint64_t bytes = std::numeric_limits<uint64_t>::max();

  bool KeepsAll() const { return *this == RetentionLimits(); }
  bool operator==(const RetentionLimits&) const = default;
};

struct KeptJob {
  std::string id;
  // InfiniteFuture: it has not ended.
  absl::Time ended = absl::InfiniteFuture();
  uint64_t log_bytes = 0;
  // The sizes of its files, by their SHA-256. Jobs may share files.
  std::map<std::string, uint64_t> files = {};
};

struct ForgottenJob {
  std::string id;
  // For people.
  std::string reason;
};

// Those of the jobs that should be deleted: the ones that ended too long ago,
// and then, until the others are small enough, the ones that ended first. Jobs
// that have not ended count, and stay.
std::vector<ForgottenJob> JobsToForget(const RetentionLimits& limits,
                                       std::vector<KeptJob> jobs,
                                       absl::Time now);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_RETENTION_H_
