// How a job ended, and the files that tell it.
#ifndef PACELINE_COMMON_SESSION_OUTCOME_H_
#define PACELINE_COMMON_SESSION_OUTCOME_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "common/session/lost_checkpoints.h"
#include "common/session/session.h"
#include "common/session/step_log.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// How a job ended.
struct Outcome {
  // OK: succeeded. Cancelled: stopped.
  absl::Status status;
  // Who is to blame, if anybody.
  std::optional<TaskId> task;
  std::vector<EpochRecord> history;
  std::optional<NonfiniteLoss> nonfinite_loss;
  // Of data.test; empty if it was not evaluated.
  Logs evaluation;
  StepLog steps;
  // Steps that the job had taken before it went on from a checkpoint.
  int64_t resumed_step = 0;
  LostCheckpoints lost_checkpoints;
  std::vector<TaskView> tasks;
  // From process_start to the end of step 1; 0 if there was none.
  double first_step_seconds = 0;
  double total_seconds = 0;
};

// Writes result.json, history.csv and, if there are steps, steps.csv into
// `output_dir`. `exit_code` gives those of tasks that the leader started.
absl::Status WriteOutcome(
    const std::string& output_dir, const v1::Job& job, const Outcome& outcome,
    const std::function<std::optional<int>(TaskId)>& exit_code);

// The exit code of the leader's process; see exit_code.h.
int ExitCode(const Outcome& outcome);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_OUTCOME_H_
