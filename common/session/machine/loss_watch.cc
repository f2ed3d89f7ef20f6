#include "common/session/machine/loss_watch.h"

#include <algorithm>
#include <cmath>

namespace paceline {

// The sign of a NaN means nothing.
absl::string_view NonfiniteName(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

void LossWatch::Reached(TaskId worker, Position position) {
  Position& reached = reached_[worker];
  reached = std::max(reached, position);
}

void LossWatch::Found(Position position, const NonfiniteLoss& loss) {
  if (found_ && (position_ < position ||
                 (position_ == position && found_->worker < loss.worker))) {
    return;
  }
  position_ = position;
  found_ = loss;
}

std::optional<NonfiniteLoss> LossWatch::first() const {
  if (!found_ || workers_per_lease_ == 1) return found_;
  int there = 0;
  for (const auto& [worker, reached] : reached_) {
    if (reached >= position_) ++there;
  }
  return there < workers_per_lease_ ? std::nullopt : found_;
}

}  // namespace paceline
