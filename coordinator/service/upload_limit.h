// How fast each user may upload.
#ifndef PACELINE_COORDINATOR_SERVICE_UPLOAD_LIMIT_H_
#define PACELINE_COORDINATOR_SERVICE_UPLOAD_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "coordinator/service/token_bucket.h"

namespace paceline {

inline constexpr uint64_t kAnyUploadRate = std::numeric_limits<uint64_t>::max();

// Thread-safe.
class UploadLimit {
 public:
  // Of each user; above 0.
  explicit UploadLimit(uint64_t bytes_per_second)
      : bytes_per_second_(bytes_per_second) {}

  struct Answer {
    // Whether the user may upload the piece, which then counts.
    bool is_granted = true;
    // How long the user has to wait before the next one.
    absl::Duration pause = absl::ZeroDuration();
  };
  // A user sends a piece of so many bytes. It counts in blocks, as files do, so
  // that tiny ones have a limit, too.
  Answer Ask(const std::string& user, uint64_t bytes, absl::Time now);

  // Users that are remembered.
  size_t user_count() const;

 private:
  const uint64_t bytes_per_second_;
  mutable Mutex mutex_;
  // Of users who have uploaded lately.
  std::map<std::string, TokenBucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_UPLOAD_LIMIT_H_
