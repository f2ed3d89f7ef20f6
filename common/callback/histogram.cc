#include "common/callback/histogram.h"

#include <algorithm>
#include <cmath>

namespace paceline {
namespace {

constexpr size_t kLastBucket = kHistogramBuckets - 1;

}  // namespace

void HistogramMaker::Look(absl::Span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    least_ = std::min<double>(least_, value);
    most_ = std::max<double>(most_, value);
  }
}

void HistogramMaker::Count(absl::Span<const float> values) {
  const double width = (most_ - least_) / kHistogramBuckets;
  for (const float value : values) {
    if (!(value >= least_ && value <= most_)) continue;
    const double bucket = width > 0 ? (value - least_) / width : kLastBucket;
    ++counts_[std::min(static_cast<size_t>(bucket), kLastBucket)];
  }
}

Histogram HistogramMaker::Make() const {
  Histogram histogram;
  if (!has_values()) return histogram;
  const double width = (most_ - least_) / kHistogramBuckets;
  for (size_t i = 0; i < kHistogramBuckets; ++i) {
    histogram[i] = {least_ + width * static_cast<double>(i),
                    least_ + width * static_cast<double>(i + 1), counts_[i]};
  }
  // Not subject to rounding.
  histogram.back().right = most_;
  return histogram;
}

}  // namespace paceline
