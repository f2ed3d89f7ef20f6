// How a job ended, and its result files.
#ifndef PACELINE_COMMON_SESSION_LEADER_OUTCOME_H_
#define PACELINE_COMMON_SESSION_LEADER_OUTCOME_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "common/session/leader/lost_checkpoints.h"
#include "common/session/machine/session.h"
#include "common/session/machine/step_log.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// How a job ended.
struct Outcome {
  // OK: succeeded. Cancelled: stopped.
  absl::Status status;
  // The task to blame, if any.
  std::optional<TaskId> task;
  // See Ended::is_departure.
  bool is_departure = false;
  std::vector<EpochRecord> history;
  std::optional<NonfiniteLoss> nonfinite_loss;
  // The metrics on data.test; empty if it was not evaluated.
  Logs evaluation;
  StepLog steps;
  // Steps that earlier runs of the job had taken.
  int64_t resumed_step = 0;
  LostCheckpoints lost_checkpoints;
  std::vector<TaskView> tasks;
  // Time from process_start to the end of step 1; 0 if no step was taken.
  double first_step_seconds = 0;
  double total_seconds = 0;
};

// Writes result.json, history.csv and, if rows were logged, steps.csv into
// `output_dir`. `phase`: that of the job; "": it has none. `exit_code` returns
// the exit codes of tasks that the leader started.
absl::Status WriteOutcome(
    const std::string& output_dir, const v1::Job& job, const std::string& phase,
    const Outcome& outcome,
    const std::function<std::optional<int>(TaskId)>& exit_code);

// The exit code of the leader's process; see exit_code.h.
int ExitCode(const Outcome& outcome);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_OUTCOME_H_
