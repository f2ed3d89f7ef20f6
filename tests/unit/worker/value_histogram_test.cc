#include "worker/inspection/value_histogram.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using Bin = ValueHistogram::Bin;

// Begin, end and count of each bin.
std::vector<std::vector<double>> BinsOf(const ValueHistogram& histogram) {
  std::vector<std::vector<double>> bins;
  for (const Bin& bin : histogram.Bins()) {
    bins.push_back({bin.begin, bin.end, static_cast<double>(bin.count)});
  }
  return bins;
}

TEST(ValueHistogramTest, PixelsAreInSixteenBins) {
  ValueHistogram histogram;
  for (int value = 0; value < 256; ++value) {
    const auto pixel = static_cast<float>(value);
    histogram.Add({&pixel, 1});
  }
  EXPECT_EQ(histogram.count(), 256);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 255);
  EXPECT_EQ(histogram.mean(), 127.5);
  const std::vector<Bin> bins = histogram.Bins();
  ASSERT_EQ(bins.size(), 16);
  for (size_t i = 0; i < bins.size(); ++i) {
    EXPECT_EQ(bins[i].begin, 16.0 * static_cast<double>(i));
    EXPECT_EQ(bins[i].end, bins[i].begin + 16);
    EXPECT_EQ(bins[i].count, 16);
  }
}

TEST(ValueHistogramTest, BinsDoNotDependOnTheOrder) {
  std::mt19937 random(1);
  for (const float spread : {1e-30F, 1.F, 2e38F}) {
    std::uniform_real_distribution<float> draw(-spread / 4, spread);
    std::vector<float> values(1000);
    for (float& value : values) value = draw(random);
    ValueHistogram whole;
    whole.Add(values);
    ValueHistogram each;
    for (const float value : values) each.Add({&value, 1});
    EXPECT_EQ(BinsOf(each), BinsOf(whole));
    const std::vector<Bin> bins = whole.Bins();
    EXPECT_LE(bins.size(), ValueHistogram::kMaxBins);
    EXPECT_GT(bins.size(), ValueHistogram::kMaxBins / 2 - 1);
    int64_t count = 0;
    for (const Bin& bin : bins) {
      int64_t expected = 0;
      for (const float value : values) {
        expected += value >= bin.begin && value < bin.end;
      }
      EXPECT_EQ(bin.count, expected);
      count += bin.count;
    }
    EXPECT_EQ(count, 1000);
  }
}

TEST(ValueHistogramTest, ExtremesFollowTinyValues) {
  ValueHistogram histogram;
  for (const float value : {std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest(), 0.F}) {
    histogram.Add({&value, 1});
  }
  int64_t count = 0;
  for (const Bin& bin : histogram.Bins()) count += bin.count;
  EXPECT_EQ(count, 4);
  EXPECT_EQ(histogram.max(), std::numeric_limits<float>::max());
}

TEST(ValueHistogramTest, ZerosBeforeOtherValuesDoNotMakeBinsWider) {
  std::vector<float> values(50, 0.F);
  ValueHistogram each;
  each.Add(values);
  for (int i = 1; i < 100; ++i) {
    const float value = static_cast<float>(i) / 10'000;
    values.push_back(value);
    each.Add({&value, 1});
  }
  ValueHistogram whole;
  whole.Add(values);
  EXPECT_EQ(BinsOf(each), BinsOf(whole));
  EXPECT_GT(each.Bins().size(), ValueHistogram::kMaxBins / 2 - 1);
}

TEST(ValueHistogramTest, CountsWhatIsNotFiniteApart) {
  ValueHistogram histogram;
  EXPECT_TRUE(histogram.Bins().empty());
  histogram.Add(std::vector<float>{NAN, INFINITY});
  EXPECT_TRUE(histogram.Bins().empty());
  histogram.Add(std::vector<float>{2, NAN, 2});
  EXPECT_EQ(histogram.not_finite(), 3);
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.mean(), 2);
  ASSERT_EQ(histogram.Bins().size(), 1);
  EXPECT_EQ(histogram.Bins().front().count, 2);
}

}  // namespace
}  // namespace paceline
