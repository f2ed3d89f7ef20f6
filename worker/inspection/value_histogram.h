// Counts values in bins that fit their range, which need not be known before.
#ifndef PACELINE_WORKER_INSPECTION_VALUE_HISTOGRAM_H_
#define PACELINE_WORKER_INSPECTION_VALUE_HISTOGRAM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// A bin is [i · width, (i + 1) · width), with the smallest power of two as
// width by which kMaxBins bins hold all values. When a value comes that they do
// not hold, the width is doubled, and each two bins become one. So memory does
// not depend on the values, and bins do not depend on their order.
class ValueHistogram {
 public:
  static constexpr int64_t kMaxBins = 20;

  struct Bin {
    double begin = 0;
    double end = 0;
    int64_t count = 0;
  };

  void Add(absl::Span<const float> values);

  // Values that are numbers, and those that are infinite or NaN, which nothing
  // else counts.
  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }
  // Of none: 0.
  double min() const { return count_ == 0 ? 0 : min_; }
  double max() const { return count_ == 0 ? 0 : max_; }
  double mean() const {
    return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  }
  // From that of the least value to that of the largest.
  std::vector<Bin> Bins() const;

 private:
  int64_t BinOf(double value) const;
  // Makes room for min_ to max_.
  void Widen();
  void DoubleWidth();

  int64_t count_ = 0;
  int64_t not_finite_ = 0;
  double min_ = 0;
  double max_ = 0;
  double sum_ = 0;
  // Of the width: 2^exponent_.
  int exponent_ = 0;
  double per_width_ = 1;
  // The bin that counts_[0] is of.
  int64_t first_ = 0;
  std::array<int64_t, kMaxBins> counts_ = {};
};

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_VALUE_HISTOGRAM_H_
