// Deletes what a service no longer keeps.
#ifndef PACELINE_COORDINATOR_SERVICE_HOUSEKEEPER_H_
#define PACELINE_COORDINATOR_SERVICE_HOUSEKEEPER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "coordinator/service/duty_cycle.h"
#include "coordinator/service/retention.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/store/file_store.h"
#include "coordinator/store/log_store.h"

namespace paceline {

// Thread-safe. Methods block on the disk, and log what they cannot do; the next
// call tries again. All must outlive it.
class Housekeeper {
 public:
  Housekeeper(const RetentionLimits& limits, SharedQueue& queue,
              FileStore& files, LogStore& logs)
      : limits_(limits), queue_(queue), files_(files), logs_(logs) {}

  // Deletes jobs that have ended, as the limits say. Their sizes are looked at
  // for a small share of the time only, and else nothing is deleted for them.
  void ForgetJobs();

  // Deletes files that no job needs, and that nobody has written or found for
  // `min_age`: a file that came before its job is needed by nobody for a while.
  void SweepFiles(absl::Duration min_age);

 private:
  absl::StatusOr<std::vector<ForgottenJob>> FindForgotten();
  // `with_files`: those of their submissions.
  static absl::StatusOr<std::vector<KeptJob>> JobsIn(const JobQueue& queue,
                                                     bool with_files);
  // Completes what JobsIn has found with files.
  absl::Status AddSizes(const std::map<std::string, uint64_t>& log_bytes,
                        std::vector<KeptJob>& jobs);
  absl::Status AddOutputs(KeptJob& job);

  const RetentionLimits limits_;
  SharedQueue& queue_;
  FileStore& files_;
  LogStore& logs_;
  Mutex mutex_;
  // Of reading sizes.
  DutyCycle sizes_ ABSL_GUARDED_BY(mutex_) = DutyCycle(/*parts=*/50);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_HOUSEKEEPER_H_
