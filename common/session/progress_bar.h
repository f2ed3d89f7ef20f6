// Keras 3's progress bar, byte for byte on a terminal (verbose=1); into a pipe,
// one line an epoch (verbose=2).
//
//   Epoch 1/10
//   938/938 ━━━━━━━━━━━━━━━━━━━━ 3s 3ms/step - accuracy: 0.94 - loss: 0.20
//
// Steps come in jumps, as heartbeats bring them. Where Keras leaves the first
// step out of the time of a step (on a terminal), the first jump is left out.
#ifndef PACELINE_COMMON_SESSION_PROGRESS_BAR_H_
#define PACELINE_COMMON_SESSION_PROGRESS_BAR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/session/session.h"

namespace paceline {

// Not thread-safe.
class ProgressBar {
 public:
  using Clock = std::function<absl::Time()>;

  // Writes to `out`, which outlives the bar; nullptr: shows nothing.
  ProgressBar(std::ostream* out, bool is_terminal, int epochs,
              Clock clock = absl::Now);

  // `epoch` is from 0; `steps_done` were done before a resume.
  void BeginEpoch(int epoch, int64_t steps_done = 0);
  // May be called as often as you like; draws 20 times a second at most. What
  // is not the training of the epoch that began is left out.
  void Update(const ProgressView& view);
  void EndEpoch(const EpochRecord& record);

 private:
  void Draw(int64_t steps_done, int64_t steps_total, const std::string& logs,
            bool is_last);
  // Seconds.
  double StepTime(int64_t steps_done);

  std::ostream* const out_;
  const bool is_terminal_;
  const int epochs_;
  const Clock clock_;

  int epoch_ = -1;
  absl::Time began_;
  int64_t steps_at_start_ = 0;
  // The first progress of the epoch: steps and time.
  std::optional<int64_t> first_steps_;
  absl::Time first_time_;
  int64_t drawn_steps_ = 0;
  absl::Time last_drawn_;
  // Visible characters of the line on the terminal.
  int64_t width_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_PROGRESS_BAR_H_
