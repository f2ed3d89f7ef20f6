// Histograms as tf.summary.histogram makes them.
//
// A HistogramMaker sees the values twice, in pieces of any size: first it finds
// their range, then it counts those in each bucket. So the values need not be
// in memory together.
#ifndef PACELINE_COMMON_CALLBACK_HISTOGRAM_H_
#define PACELINE_COMMON_CALLBACK_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <limits>

#include "absl/types/span.h"

namespace paceline {

inline constexpr size_t kHistogramBuckets = 30;

// Values from `left` on, below `right`. The last bucket also has those equal to
// `right`.
struct HistogramBucket {
  double left = 0;
  double right = 0;
  double count = 0;
};
using Histogram = std::array<HistogramBucket, kHistogramBuckets>;

// Values that are not finite are left out. Not thread-safe.
class HistogramMaker {
 public:
  // Widens the range by these values.
  void Look(absl::Span<const float> values);
  // Counts these values, once all have been looked at.
  void Count(absl::Span<const float> values);
  // Of what was counted. If all values are equal, the last bucket has them; if
  // there are none, edges and counts are 0.
  Histogram Make() const;

 private:
  bool has_values() const { return least_ <= most_; }

  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  std::array<double, kHistogramBuckets> counts_ = {};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_HISTOGRAM_H_
