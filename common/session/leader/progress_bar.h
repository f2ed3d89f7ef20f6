// Keras 3's progress bar: on a terminal byte for byte that of verbose=1; in a
// pipe, one line per epoch (verbose=2).
//
//   Epoch 1/10
//   938/938 ━━━━━━━━━━━━━━━━━━━━ 3s 3ms/step - accuracy: 0.94 - loss: 0.20
//
// Steps arrive with heartbeats, several at a time. Keras excludes the first
// step from the time per step (on a terminal); the bar excludes the steps of
// the first heartbeat.
#ifndef PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
#define PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/session/machine/session.h"

namespace paceline {

// Not thread-safe.
class ProgressBar {
 public:
  using Clock = std::function<absl::Time()>;

  // Writes to `out`, which must outlive the bar; null: shows nothing.
  ProgressBar(std::ostream* out, bool is_terminal, int epochs,
              Clock clock = absl::Now);

  // `epoch` counts from 0; `steps_done` were taken before a resume.
  void BeginEpoch(int epoch, int64_t steps_done = 0);
  // Draws at most 20 times a second, so it may be called often. Ignores views
  // of other stages than the training of this epoch.
  void Update(const ProgressView& view);
  void EndEpoch(const EpochRecord& record);

 private:
  void Draw(int64_t steps_done, int64_t steps_total, const std::string& logs,
            bool is_last);
  // Seconds per step.
  double StepTime(int64_t steps_done);

  std::ostream* const out_;
  const bool is_terminal_;
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
  // Visible characters in the line on the terminal.
  int64_t width_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_PROGRESS_BAR_H_
