#include "common/session/machine/shard_steps.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace paceline {

ShardSteps::ShardSteps(std::vector<StepCounter> counters)
    : counters_(std::move(counters)), missing_(counters_.size()) {}

void ShardSteps::Fenced(absl::Span<const int64_t> pushes) {
  if (counters_.empty()) return;
  int64_t most = 0;
  for (const int64_t each : pushes) most = std::max(most, each);
  if (most == 0) return;
  ++lost_count_;
  for (size_t shard = 0; shard < missing_.size(); ++shard) {
    missing_[shard] += most - pushes[shard];
  }
}

std::vector<StepBounds> ShardSteps::After(int64_t steps) const {
  std::vector<StepBounds> bounds;
  for (size_t shard = 0; shard < counters_.size(); ++shard) {
    const StepCounter& counter = counters_[shard];
    StepBounds& each = bounds.emplace_back();
    each.least = each.most = counter.first_step;
    if (counter.updated_chunks == 0) continue;
    each.most += steps - missing_[shard];
    each.least = each.most - (counter.updated_chunks > 1 ? lost_count_ : 0);
  }
  return bounds;
}

}  // namespace paceline
