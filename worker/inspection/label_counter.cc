#include "worker/inspection/label_counter.h"

#include <algorithm>

#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {

LabelCounter::LabelCounter(const ModelArray& output)
    : label_size_(NumElements(output.shape)) {
  if (output.classes.count > 0) {
    counts_.resize(output.classes.count);
  } else if (label_size_ == 1) {
    counts_.resize(2);
  } else if (output.shape.size() == 1) {
    counts_.resize(label_size_);
  }
}

void LabelCounter::AddIds(absl::Span<const int32_t> ids) {
  for (const int32_t id : ids) {
    // The batch pipeline has checked it: others are ignored in training.
    if (id >= 0 && id < std::ssize(counts_)) ++counts_[id];
  }
}

void LabelCounter::AddValues(absl::Span<const float> labels) {
  for (size_t at = 0; at < labels.size() && !counts_.empty();
       at += label_size_) {
    const int64_t id = ClassOf(labels.subspan(at, label_size_));
    if (id < 0) {
      counts_.clear();
    } else {
      ++counts_[id];
    }
  }
}

int64_t LabelCounter::ClassOf(absl::Span<const float> label) const {
  for (const float value : label) {
    if (value != 0 && value != 1) return -1;
  }
  if (label.size() == 1) return label.front() == 1 ? 1 : 0;
  const auto one = std::find(label.begin(), label.end(), 1.F);
  if (one == label.end() || std::count(one, label.end(), 1.F) > 1) return -1;
  return one - label.begin();
}

}  // namespace paceline
