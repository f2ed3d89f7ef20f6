// Counts how many examples of each class there are among labels.
#ifndef PACELINE_WORKER_INSPECTION_LABEL_COUNTER_H_
#define PACELINE_WORKER_INSPECTION_LABEL_COUNTER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/data_source/model_arrays.h"

namespace paceline {

// Labels are of classes if they are class ids, or if each is a vector with one
// 1 among zeros, or a number that is 0 or 1.
class LabelCounter {
 public:
  explicit LabelCounter(const ModelArray& output);

  void AddIds(absl::Span<const int32_t> ids);
  // One after another.
  void AddValues(absl::Span<const float> labels);

  // By class id; empty once a label was of no class.
  const std::vector<int64_t>& counts() const { return counts_; }

 private:
  // Of one label; negative: it is of none.
  int64_t ClassOf(absl::Span<const float> label) const;

  const int64_t label_size_;
  std::vector<int64_t> counts_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_LABEL_COUNTER_H_
