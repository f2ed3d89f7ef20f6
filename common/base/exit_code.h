// Exit codes of the programs, by which they also tell each other what has
// happened.
#ifndef PACELINE_COMMON_BASE_EXIT_CODE_H_
#define PACELINE_COMMON_BASE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace paceline {

inline constexpr int kSuccess = 0;
// The job failed.
inline constexpr int kJobFailed = 1;
// Wrong use, or a bad job or data file found before step 1.
inline constexpr int kBadInput = 2;
// The user stopped the job.
inline constexpr int kStopped = 130;
// A signal ended a task, not its job: a worker that others can do without, or a
// task before its job started. Also any task that had not left in time, or got
// a second signal; the job fails if it cannot do without the task, or if the
// worker was the last. A new process may take its place, and platforms
// that restart by exit code start one. Under Kubeflow's ExitCode policy codes
// from 1 to 127 are final, and this one, 128 + SIGUSR1, is free for programs.
inline constexpr int kRestart = 138;
// 128 + SIGTERM: a signal ended the process before it could take any.
inline constexpr int kTerminated = 143;

// Whether an error found before step 1 is the fault of the job or its files.
inline bool IsBadInput(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
         absl::IsPermissionDenied(status) || absl::IsDataLoss(status);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_EXIT_CODE_H_
