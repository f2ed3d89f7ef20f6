// The newest progress of a job in a file, from which a daemon takes it to those
// who follow the job (v1::JobProgress).
#ifndef PACELINE_COMMON_SESSION_LEADER_PROGRESS_RECORD_H_
#define PACELINE_COMMON_SESSION_LEADER_PROGRESS_RECORD_H_

#include <string>

#include "common/progress/progress_style.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Each change replaces the file at once, and is not synced. That it cannot be
// written is told once, and tried again with the next change. Not thread-safe.
class ProgressRecord {
 public:
  ProgressRecord(std::string path, v1::ProgressStyle style);

  // The epoch goes on.
  void SetCurrent(const EpochProgress& progress);
  // The epoch has ended.
  void AddEnded(const EpochProgress& progress);

 private:
  void Write();

  const std::string path_;
  v1::JobProgress message_;
  bool has_failed_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_PROGRESS_RECORD_H_
