#include "common/base/row_offsets.h"

#include "glog/logging.h"

namespace paceline {

RowOffsets::RowOffsets(size_t limit) : limit_(limit) {
  CHECK(limit > 0 && limit % 2 == 0);
}

void RowOffsets::Add(int64_t offset) {
  const int64_t row = row_count_++;
  if (row >> shift_ << shift_ != row) return;
  if (offsets_.size() == limit_) {
    // Keeps every second one. This row is still one that is kept, since the
    // limit is even.
    for (size_t i = 0; i < limit_ / 2; ++i) offsets_[i] = offsets_[2 * i];
    offsets_.resize(limit_ / 2);
    ++shift_;
  }
  offsets_.push_back(offset);
}

RowOffsets::Place RowOffsets::AtOrBefore(int64_t row) const {
  CHECK(row >= 0 && row < row_count_);
  const int64_t index = row >> shift_;
  return {index << shift_, offsets_[static_cast<size_t>(index)]};
}

}  // namespace paceline
