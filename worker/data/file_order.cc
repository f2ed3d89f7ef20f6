#include "worker/data/file_order.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace paceline {

FileOrder::FileOrder(std::vector<ExampleSpan> files)
    : files_(std::move(files)), ends_(files_.size()) {
  CHECK(!files_.empty());
  for (const ExampleSpan& file : files_) CHECK_LT(file.begin, file.end);
}

void FileOrder::Begin(uint64_t key) {
  key_ = key;
  file_order_.emplace(static_cast<int64_t>(files_.size()), key);
  int64_t end = 0;
  for (size_t slot = 0; slot < files_.size(); ++slot) {
    const ExampleSpan& file =
        files_[(*file_order_)(static_cast<int64_t>(slot))];
    end += file.end - file.begin;
    ends_[slot] = end;
  }
  positions_ = {};
}

int64_t FileOrder::At(int64_t position) {
  if (position < positions_.begin || position >= positions_.end) {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), position);
    CHECK(end != ends_.end());
    Enter(static_cast<size_t>(end - ends_.begin()));
  }
  return first_ + (*within_file_)(position - positions_.begin);
}

void FileOrder::Enter(size_t slot) {
  const int64_t number = (*file_order_)(static_cast<int64_t>(slot));
  const ExampleSpan& file = files_[number];
  positions_ = {slot == 0 ? 0 : ends_[slot - 1], ends_[slot]};
  first_ = file.begin;
  within_file_.emplace(file.end - file.begin,
                       MixBits(key_ ^ MixBits(static_cast<uint64_t>(number))));
}

}  // namespace paceline
