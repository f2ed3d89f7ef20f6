// The examples that a data set with `on_error: skip` leaves out.
#ifndef PACELINE_WORKER_DATA_SKIPPED_EXAMPLES_H_
#define PACELINE_WORKER_DATA_SKIPPED_EXAMPLES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Whether the error is one of the example, so that others may be read: its
// bytes are corrupt, or its file is gone.
bool IsOfExample(const absl::Status& error);

// Logs the first examples of an epoch that are left out, each with its error,
// and, when the epoch is over, how many there were. Thread-safe.
class SkippedExamples {
 public:
  // The next examples are of this epoch. Ends the one before.
  void BeginEpoch(v1::Phase phase, uint32_t epoch);
  // Logs what there was since BeginEpoch.
  void EndEpoch();
  // An example of the epoch was left out. `error` names it.
  void Add(const absl::Status& error);
  // Of all epochs.
  int64_t total() const;

 private:
  void LogCount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  v1::Phase phase_ ABSL_GUARDED_BY(mutex_) = v1::PHASE_UNSPECIFIED;
  uint32_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_SKIPPED_EXAMPLES_H_
