// Shows the epochs of a job as Keras' fit does, and the evaluation of data.test
// as its evaluate does, in the style and the detail that the job asks for: a
// progress bar (verbose: 1), a line at the end (verbose: 2), or nothing
// (verbose: 0).
//
// Steps arrive with heartbeats, several at a time. Keras excludes the first
// step from the time per step of a bar. So does this bar if it hears of it
// alone; else it excludes the steps of the first heartbeat, once those after it
// have taken long enough: until then most of the time that they took may have
// passed before that heartbeat. A line (verbose: 2) has the time of all steps.
#ifndef PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
#define PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/progress/bar_line.h"
#include "common/progress/progress_style.h"
#include "common/session/leader/progress_record.h"
#include "common/session/machine/session.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Not thread-safe.
class ProgressBar {
 public:
  using Clock = std::function<absl::Time()>;

  // Writes to `out`, which must outlive the bar; null: shows nothing. Unless
  // the job says what to show, a terminal gets bars, and anything else lines.
  // With a `record`, `out` gets lines where it would get bars, and the record
  // what a bar needs.
  ProgressBar(std::ostream* out, bool is_terminal, const v1::Job& job,
              std::unique_ptr<ProgressRecord> record = nullptr,
              Clock clock = MonotonicNow);

  // `epoch` counts from 0; `steps_done` were taken before a resume.
  void BeginEpoch(int epoch, int64_t steps_done = 0);
  void BeginTest();
  // Draws at most 20 times a second, and records 5 times, so it may be called
  // often. Ignores views of other stages than the training of this epoch, or
  // the test.
  void Update(const ProgressView& view);
  void EndEpoch(const EpochRecord& record);
  void EndTest(int64_t steps, const Logs& logs);

 private:
  void Begin(v1::Phase phase, int64_t steps_done);
  void End(EpochProgress progress);
  bool IsShown(const ProgressView& view) const;
  EpochProgress ProgressOf(int64_t steps_done, int64_t steps_total) const;
  // Seconds per step.
  double StepTime(int64_t steps_done) const;

  std::ostream* const out_;
  const v1::Verbose verbose_;
  // Null: nobody else draws a bar.
  const std::unique_ptr<ProgressRecord> record_;
  const std::unique_ptr<const ProgressStyle> style_;
  const int epochs_;
  const Clock clock_;

  v1::Phase phase_ = v1::PHASE_UNSPECIFIED;
  // Of training.
  int epoch_ = -1;
  absl::Time began_;
  int64_t steps_at_start_ = 0;
  // Steps and time of the first progress view.
  std::optional<int64_t> first_steps_;
  absl::Time first_time_;
  int64_t drawn_steps_ = 0;
  absl::Time last_drawn_;
  std::optional<BarLine> line_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
