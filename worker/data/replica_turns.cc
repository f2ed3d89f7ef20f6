#include "worker/data/replica_turns.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "worker/data/step_slices.h"

namespace paceline {

ReplicaTurns::ReplicaTurns(std::vector<int64_t> sizes, int64_t step_size)
    : sizes_(std::move(sizes)),
      step_size_(step_size),
      spare_begins_(sizes_.size()),
      spare_ends_(sizes_.size()) {
  CHECK(!sizes_.empty());
  CHECK_GE(step_size_, 1);
}

void ReplicaTurns::Begin(int64_t examples, int64_t into_step, bool ends_step) {
  CHECK(into_step >= 0 && into_step < step_size_);
  CHECK(!ends_step || into_step == 0);
  examples_ = examples;
  into_step_ = into_step;
  full_end_ = ends_step ? examples / step_size_ * step_size_ : examples;
  int64_t spare = 0;
  for (int replica = 0; replica < replicas(); ++replica) {
    const int64_t own = CountBefore(replica, examples);
    spare_begins_[replica] = own;
    spare += std::max<int64_t>(0, sizes_[replica] - own);
    spare_ends_[replica] = spare;
  }
}

ReplicaTurns::Turn ReplicaTurns::At(int64_t position) const {
  DCHECK(position >= 0 && position < examples_);
  const int replica = ReplicaAt(position);
  const int64_t index = CountBefore(replica, position);
  if (index < sizes_[replica]) return {.stream = replica, .index = index};
  // How many positions before this one take what others have too much of.
  int64_t nth = 0;
  for (int other = 0; other < replicas(); ++other) {
    nth += std::max<int64_t>(0, CountBefore(other, position) - sizes_[other]);
  }
  const auto found =
      std::upper_bound(spare_ends_.begin(), spare_ends_.end(), nth);
  CHECK(found != spare_ends_.end());
  const auto stream = static_cast<int>(found - spare_ends_.begin());
  const int64_t before = stream == 0 ? 0 : spare_ends_[stream - 1];
  return {.stream = stream,
          .index = spare_begins_[stream] + nth - before,
          .is_spare = true};
}

int ReplicaTurns::ReplicaAt(int64_t position) const {
  if (position >= full_end_) {
    return SliceOf(position - full_end_, examples_ - full_end_, replicas());
  }
  return SliceOf((into_step_ + position) % step_size_, step_size_, replicas());
}

int64_t ReplicaTurns::CountBefore(int replica, int64_t position) const {
  const int64_t full = std::min(position, full_end_);
  const int64_t count = CountInFullSteps(replica, into_step_ + full) -
                        CountInFullSteps(replica, into_step_);
  if (position <= full_end_) return count;
  const int64_t last = examples_ - full_end_;
  const int64_t into_slice =
      position - full_end_ - SliceBegin(last, replica, replicas());
  return count + std::clamp<int64_t>(into_slice, 0,
                                     SliceSize(last, replica, replicas()));
}

int64_t ReplicaTurns::CountInFullSteps(int replica, int64_t positions) const {
  const int64_t size = SliceSize(step_size_, replica, replicas());
  const int64_t into_slice =
      positions % step_size_ - SliceBegin(step_size_, replica, replicas());
  return positions / step_size_ * size +
         std::clamp<int64_t>(into_slice, 0, size);
}

}  // namespace paceline
