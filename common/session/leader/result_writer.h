// The result files of a job: result.json, history.csv, steps.csv.
#ifndef PACELINE_COMMON_SESSION_LEADER_RESULT_WRITER_H_
#define PACELINE_COMMON_SESSION_LEADER_RESULT_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/leader/lost_checkpoints.h"
#include "common/session/machine/session.h"
#include "common/session/machine/step_row.h"

namespace paceline {

// A task at the end of the job.
struct TaskResult {
  TaskId id;
  std::string address;
  uint64_t peak_rss_bytes = 0;
  // nullopt (null in the file) if the leader did not start the process.
  std::optional<int> exit_code;
};

// The content of result.json.
struct JobResult {
  std::string name;
  // The phase of the job; "": it has none, and the file no such key.
  std::string phase;
  // The name in a job file: "parameter_server".
  std::string strategy;
  // In the file: OK is SUCCEEDED, Cancelled is STOPPED, anything else FAILED.
  absl::Status status;
  // The task to blame, if any.
  std::optional<TaskId> blamed;
  std::vector<EpochRecord> history;
  // The metrics on data.test; empty if it was not evaluated.
  Logs evaluation;
  // "lost_checkpoints" in the file: {"count", "error"}, the error of the last
  // one lost; null if none was.
  LostCheckpoints lost_checkpoints;
  // The first training loss that was NaN or infinite, if any. In the file:
  // "nonfinite_loss": {"task", "epoch", "step", "value"}, where the value is
  // the text "nan", "inf" or "-inf"; null if there was none.
  std::optional<NonfiniteLoss> nonfinite_loss;
  // Measured from the start of the leader's process. first_step_seconds ends
  // with step 1; 0 if no step was taken.
  double first_step_seconds = 0;
  double total_seconds = 0;
  std::vector<TaskResult> tasks;
};

// Examples per second: the median over all epochs but the first, which includes
// warm-up. If there is only one epoch, that one; 0 without epochs.
double MedianExamplesPerSecond(absl::Span<const EpochRecord> history);

// The text of result.json. NaN and infinities become null.
std::string ResultJson(const JobResult& result);
// One row per epoch, as Keras' CSVLogger writes them: the epoch (from 0), then
// the other columns sorted by name; rows end in \r\n.
std::string HistoryCsv(absl::Span<const EpochRecord> history);
// One row per step: its number and the loss of its own batch. If the run was
// resumed, the rows of `earlier` (the text of the earlier run's file) up to
// step `resumed_step` come first, without the steps that were taken again.
std::string StepsCsv(absl::Span<const StepRow> rows, int64_t resumed_step = 0,
                     absl::string_view earlier = "");

// Writes the file into `output_dir` atomically.
absl::Status WriteResult(const std::string& output_dir,
                         const JobResult& result);
absl::Status WriteHistory(const std::string& output_dir,
                          absl::Span<const EpochRecord> history);
// With a `resumed_step`, continues the existing file, as StepsCsv says.
absl::Status WriteSteps(const std::string& output_dir,
                        absl::Span<const StepRow> rows, int64_t resumed_step);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_RESULT_WRITER_H_
