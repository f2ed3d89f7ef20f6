#include "common/session/leader/outcome.h"

#include "common/base/exit_code.h"
#include "common/base/status_macros.h"
#include "common/session/leader/result_writer.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {

absl::Status WriteOutcome(
    const std::string& output_dir, const v1::Job& job, const std::string& phase,
    const Outcome& outcome,
    const std::function<std::optional<int>(TaskId)>& exit_code) {
  JobResult result;
  result.name = job.name();
  result.phase = phase;
  result.strategy = StrategyOf(job).name;
  result.status = outcome.status;
  result.blamed = outcome.task;
  result.history = outcome.history;
  result.nonfinite_loss = outcome.nonfinite_loss;
  result.evaluation = outcome.evaluation;
  result.lost_checkpoints = outcome.lost_checkpoints;
  result.first_step_seconds = outcome.first_step_seconds;
  result.total_seconds = outcome.total_seconds;
  for (const TaskView& task : outcome.tasks) {
    result.tasks.push_back(
        {task.id, task.address, task.peak_rss_bytes, exit_code(task.id)});
  }
  RETURN_IF_ERROR(WriteResult(output_dir, result));
  RETURN_IF_ERROR(WriteHistory(output_dir, outcome.history));
  if (!job.log_steps()) return absl::OkStatus();
  return WriteSteps(output_dir, outcome.steps.rows(), outcome.resumed_step);
}

int ExitCode(const Outcome& outcome) {
  if (outcome.status.ok()) return kSuccess;
  if (absl::IsCancelled(outcome.status)) return kStopped;
  const bool before_step_1 = outcome.first_step_seconds == 0;
  return before_step_1 && IsBadInput(outcome.status) ? kBadInput : kJobFailed;
}

}  // namespace paceline
