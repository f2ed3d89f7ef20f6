// The files that tell how a job went: result.json, history.csv, steps.csv.
#ifndef PACELINE_COMMON_SESSION_RESULT_WRITER_H_
#define PACELINE_COMMON_SESSION_RESULT_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/lost_checkpoints.h"
#include "common/session/session.h"
#include "common/session/step_row.h"

namespace paceline {

// A task at the end of the job.
struct TaskResult {
  TaskId id;
  std::string address;
  uint64_t peak_rss_bytes = 0;
  // nullopt where the leader did not start the process: null in the file.
  std::optional<int> exit_code;
};

// What result.json holds.
struct JobResult {
  std::string name;
  // As a job writes it: "parameter_server".
  std::string strategy;
  // OK: SUCCEEDED. Cancelled: STOPPED. Else FAILED.
  absl::Status status;
  // Who is to blame, if anybody.
  std::optional<TaskId> blamed;
  std::vector<EpochRecord> history;
  // Of data.test; empty if it was not evaluated.
  Logs evaluation;
  // "lost_checkpoints": how many ("count"), and why the last of them was lost
  // ("error", null if none was).
  LostCheckpoints lost_checkpoints;
  // The first loss of training that was infinite or NaN, if there was one. In
  // the file, "nonfinite_loss": {"task", "epoch", "step", "value"}, with the
  // value as text ("nan", "inf", "-inf"); else null.
  std::optional<NonfiniteLoss> nonfinite_loss;
  // From the start of the leader's process; first_step_seconds to the end of
  // step 1, 0 if there was none.
  double first_step_seconds = 0;
  double total_seconds = 0;
  std::vector<TaskResult> tasks;
};

// Examples a second: the median of the epochs without the first, which also
// warms up; of the first if there is no other; 0 without epochs.
double MedianExamplesPerSecond(absl::Span<const EpochRecord> history);

// The text of result.json. Numbers that JSON has not are null.
std::string ResultJson(const JobResult& result);
// A row an epoch, as Keras' CSVLogger writes them: the epoch (from 0), then the
// other columns by name; rows end in \r\n.
std::string HistoryCsv(absl::Span<const EpochRecord> history);
// A row a step: its number and the loss of its own batch. Before these come the
// rows of `earlier`, the file of the run that a resume goes on from, up to step
// `resumed_step`; but for those whose step was taken again.
std::string StepsCsv(absl::Span<const StepRow> rows, int64_t resumed_step = 0,
                     absl::string_view earlier = "");

// Write the file into `output_dir`, whole or not at all.
absl::Status WriteResult(const std::string& output_dir,
                         const JobResult& result);
absl::Status WriteHistory(const std::string& output_dir,
                          absl::Span<const EpochRecord> history);
// With a `resumed_step` the file that is there is continued, as StepsCsv says.
absl::Status WriteSteps(const std::string& output_dir,
                        absl::Span<const StepRow> rows, int64_t resumed_step);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_RESULT_WRITER_H_
