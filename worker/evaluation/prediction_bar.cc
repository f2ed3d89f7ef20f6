#include "worker/evaluation/prediction_bar.h"

#include <algorithm>
#include <utility>

namespace paceline {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(50);

}  // namespace

PredictionBar::PredictionBar(std::ostream* out, Clock clock)
    : clock_(std::move(clock)),
      style_(MakeProgressStyle(v1::PROGRESS_STYLE_UNSPECIFIED)) {
  if (out != nullptr) line_.emplace(*out);
}

PredictionBar::~PredictionBar() {
  if (line_ && line_->is_drawn()) line_->End();
}

void PredictionBar::Update(int64_t done, int64_t batches) {
  if (!line_) return;
  const absl::Time now = clock_();
  if (!first_) first_ = now;
  if (done < batches && now - last_drawn_ < kDrawInterval) return;
  last_drawn_ = now;
  EpochProgress progress;
  progress.steps_done = done;
  progress.steps_total = batches;
  progress.seconds = absl::ToDoubleSeconds(now - *first_);
  progress.seconds_per_step =
      progress.seconds / static_cast<double>(std::max<int64_t>(done - 1, 1));
  progress.is_end = done == batches;
  line_->Draw(style_->Bar(progress));
}

}  // namespace paceline
