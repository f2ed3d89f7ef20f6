// The newest progress of running jobs, for those who follow them.
//
// It is in memory only: after a restart of the coordinator, and after the end
// of a job, there is none until a daemon brings some.
#ifndef PACELINE_COORDINATOR_SERVICE_PROGRESS_BOARD_H_
#define PACELINE_COORDINATOR_SERVICE_PROGRESS_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "coordinator/queue/job_queue.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Jobs that have ended are forgotten now and then, so that there are never more
// than twice as many as others, and a few. Thread-safe.
class ProgressBoard {
 public:
  // Whether the job has not ended.
  using IsOpen = absl::FunctionRef<bool(const std::string& job)>;

  struct Entry {
    // Of which start of the job.
    uint32_t generation = 0;
    // From 1; another one for each progress.
    uint64_t number = 0;
    v1::JobProgress progress;
  };

  // Progress that CheckJobProgress has found good.
  void Put(const std::string& job, uint32_t generation,
           const v1::JobProgress& progress, IsOpen is_open);

  // The progress of this start of the job, if there is some.
  std::optional<Entry> Find(const std::string& job, uint32_t generation) const;

  // Somebody follows the job at this time.
  void Follow(const std::string& job, absl::Time now, IsOpen is_open);
  // Whether somebody has followed it within some seconds.
  bool IsFollowed(const std::string& job, absl::Time now) const;

  size_t size() const;

 private:
  static constexpr size_t kFew = 64;

  struct Job {
    Entry entry;
    absl::Time last_followed = absl::InfinitePast();
  };

  // The job, which is added if need be.
  Job& At(const std::string& job, IsOpen is_open)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Job> jobs_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  // When there are so many jobs, those that have ended are forgotten.
  size_t most_ ABSL_GUARDED_BY(mutex_) = kFew;
};

// For ProgressBoard, which asks while the queue lives.
std::function<bool(const std::string& job)> OpenJobsOf(const JobQueue& queue);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_PROGRESS_BOARD_H_
