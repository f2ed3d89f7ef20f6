// Shows the epochs of a job as Keras' fit does, in the style and the detail
// that the job asks for: a progress bar (verbose: 1), a line at the end of an
// epoch (verbose: 2), or nothing (verbose: 0).
//
// Steps arrive with heartbeats, several at a time. Keras excludes the first
// step from the time per step of a bar; this bar excludes the steps of the
// first heartbeat.
#ifndef PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
#define PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/session/leader/progress_style.h"
#include "common/session/machine/session.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// Not thread-safe.
class ProgressBar {
 public:
  using Clock = std::function<absl::Time()>;

  // Writes to `out`, which must outlive the bar; null: shows nothing. Unless
  // the job says what to show, a terminal gets bars, and anything else lines.
  ProgressBar(std::ostream* out, bool is_terminal, const v1::Job& job,
              Clock clock = absl::Now);

  // `epoch` counts from 0; `steps_done` were taken before a resume.
  void BeginEpoch(int epoch, int64_t steps_done = 0);
  // Draws at most 20 times a second, so it may be called often. Ignores views
  // of other stages than the training of this epoch.
  void Update(const ProgressView& view);
  void EndEpoch(const EpochRecord& record);

 private:
  // Draws over the bar that is there.
  void Draw(const EpochProgress& progress);
  EpochProgress ProgressOf(int64_t steps_done, int64_t steps_total) const;
  // Seconds per step.
  double StepTime(int64_t steps_done) const;

  std::ostream* const out_;
  const v1::Verbose verbose_;
  const std::unique_ptr<const ProgressStyle> style_;
  const int epochs_;
  const Clock clock_;

  int epoch_ = -1;
  absl::Time began_;
  int64_t steps_at_start_ = 0;
  // Steps and time of the epoch's first progress view.
  std::optional<int64_t> first_steps_;
  absl::Time first_time_;
  int64_t drawn_steps_ = 0;
  absl::Time last_drawn_;
  // Columns of the bar on the terminal.
  int64_t width_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
