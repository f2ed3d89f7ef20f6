#include "common/session/machine/step_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {

void StepLog::Add(const StepRow& row) {
  // Workers are at about the same step, so the row belongs near the end, and
  // inserting it moves few rows.
  const auto position = std::upper_bound(
      rows_.begin(), rows_.end(), row.step,
      [](int64_t step, const StepRow& other) { return step < other.step; });
  if (adds_up_ && position != rows_.begin()) {
    StepRow& before = *std::prev(position);
    if (before.step == row.step) {
      before.total += row.total;
      before.weight += row.weight;
      return;
    }
  }
  if (rows_.size() >= size_t{limits::kMaxStepRows}) {
    LOG_IF(WARNING, !is_full_) << "steps.csv has " << rows_.size()
                               << " rows; those that follow are left out";
    is_full_ = true;
    return;
  }
  rows_.insert(position, row);
}

}  // namespace paceline
