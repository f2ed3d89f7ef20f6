#include "worker/inspection/value_histogram.h"

#include <algorithm>
#include <cmath>

namespace paceline {
namespace {

// Bins are not narrower than the largest value times 2^-kPrecisionBits.
constexpr int kPrecisionBits = 20;

// The width of 0 alone: below that of any other float, so that it fits what
// comes later.
constexpr int kExponentOfZero = -180;

// No larger than the exponent of the width that fits.
int SmallestExponent(double min, double max) {
  const double largest = std::max(std::abs(min), std::abs(max));
  if (largest == 0) return kExponentOfZero;
  const int precise = std::ilogb(largest) - kPrecisionBits;
  if (min == max) return precise;
  // 2^5 bins or more.
  return std::max(std::ilogb(max - min) - 5, precise);
}

}  // namespace

void ValueHistogram::Add(absl::Span<const float> values) {
  const bool is_first = count_ == 0;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite_;
      continue;
    }
    if (count_ == 0) min_ = max_ = value;
    min_ = std::min<double>(min_, value);
    max_ = std::max<double>(max_, value);
    sum_ += value;
    ++count_;
  }
  if (count_ == 0) return;
  if (is_first) {
    exponent_ = SmallestExponent(min_, max_);
    per_width_ = std::ldexp(1.0, -exponent_);
    first_ = BinOf(min_);
  }
  Widen();
  for (const float value : values) {
    if (std::isfinite(value)) ++counts_[BinOf(value) - first_];
  }
}

std::vector<ValueHistogram::Bin> ValueHistogram::Bins() const {
  std::vector<Bin> bins;
  if (count_ == 0) return bins;
  const double width = std::ldexp(1.0, exponent_);
  for (int64_t i = BinOf(min_); i <= BinOf(max_); ++i) {
    const auto begin = static_cast<double>(i) * width;
    bins.push_back({begin, begin + width, counts_[i - first_]});
  }
  return bins;
}

int64_t ValueHistogram::BinOf(double value) const {
  return static_cast<int64_t>(std::floor(value * per_width_));
}

void ValueHistogram::Widen() {
  // As doubles, since the number of a bin may be beyond integers.
  while (std::floor(max_ * per_width_) - std::floor(min_ * per_width_) >=
         kMaxBins) {
    DoubleWidth();
  }
  // The least value may have moved to the left of the first bin.
  const int64_t shift = first_ - BinOf(min_);
  if (shift <= 0) return;
  std::array<int64_t, kMaxBins> moved = {};
  for (int64_t i = 0; i + shift < kMaxBins; ++i) moved[i + shift] = counts_[i];
  counts_ = moved;
  first_ -= shift;
}

void ValueHistogram::DoubleWidth() {
  std::array<int64_t, kMaxBins> halved = {};
  // Rounds down, as BinOf does.
  const int64_t first = first_ >> 1;
  for (int64_t i = 0; i < kMaxBins; ++i) {
    halved[((first_ + i) >> 1) - first] += counts_[i];
  }
  counts_ = halved;
  first_ = first;
  ++exponent_;
  per_width_ = std::ldexp(1.0, -exponent_);
}

}  // namespace paceline
