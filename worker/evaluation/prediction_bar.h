// How far a prediction is, as Keras' predict shows it.
#ifndef PACELINE_WORKER_EVALUATION_PREDICTION_BAR_H_
#define PACELINE_WORKER_EVALUATION_PREDICTION_BAR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/progress/bar_line.h"
#include "common/progress/progress_style.h"

namespace paceline {

// Not thread-safe.
class PredictionBar {
 public:
  using Clock = std::function<absl::Time()>;

  // Draws on the terminal `out`, which must outlive it; null: shows nothing.
  explicit PredictionBar(std::ostream* out, Clock clock = MonotonicNow);
  // Ends the line of the bar, if there is one.
  ~PredictionBar();

  // After `done` of the batches. Draws at most 20 times a second, so it may be
  // called often.
  void Update(int64_t done, int64_t batches);

 private:
  std::optional<BarLine> line_;
  const Clock clock_;
  const std::unique_ptr<const ProgressStyle> style_;
  // When the first batch was done: it took as long as what is prepared once.
  std::optional<absl::Time> first_;
  absl::Time last_drawn_ = absl::InfinitePast();
};

}  // namespace paceline

#endif  // PACELINE_WORKER_EVALUATION_PREDICTION_BAR_H_
