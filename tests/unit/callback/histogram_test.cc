// Histograms, beside those of TensorFlow.
#include "common/callback/histogram.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

// Of values that come in pieces of this size.
Histogram HistogramOf(const std::vector<float>& values, size_t piece) {
  HistogramMaker maker;
  const auto all = absl::MakeConstSpan(values);
  for (size_t i = 0; i < values.size(); i += piece) {
    maker.Look(all.subspan(i, piece));
  }
  for (size_t i = 0; i < values.size(); i += piece) {
    maker.Count(all.subspan(i, piece));
  }
  return maker.Make();
}

double CountIn(const Histogram& histogram) {
  double count = 0;
  for (const HistogramBucket& bucket : histogram) count += bucket.count;
  return count;
}

TEST(HistogramMaker, MakesThoseOfTensorFlow) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/tensor_board_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json cases = json::parse(*text).at("cases");
  ASSERT_FALSE(cases.empty());
  for (const json& each : cases) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const auto values = each.at("values").get<std::vector<float>>();
    for (const size_t piece : {values.size(), size_t{1}, size_t{7}}) {
      const Histogram histogram = HistogramOf(values, piece);
      ASSERT_EQ(each.at("buckets").size(), histogram.size());
      for (size_t i = 0; i < histogram.size(); ++i) {
        const json& bucket = each.at("buckets")[i];
        const double size = std::abs(bucket[0].get<double>()) +
                            std::abs(bucket[1].get<double>());
        EXPECT_NEAR(histogram[i].left, bucket[0].get<double>(), 1e-14 * size);
        EXPECT_NEAR(histogram[i].right, bucket[1].get<double>(), 1e-14 * size);
        EXPECT_EQ(histogram[i].count, bucket[2].get<double>())
            << "bucket " << i;
      }
    }
  }
}

TEST(HistogramMaker, LeavesOutWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const Histogram histogram =
      HistogramOf({nan, 1, kInfinity, 2, -kInfinity, nan, 2}, 3);
  EXPECT_EQ(histogram.front().left, 1);
  EXPECT_EQ(histogram.front().count, 1);
  EXPECT_EQ(histogram.back().right, 2);
  EXPECT_EQ(histogram.back().count, 2);
  EXPECT_EQ(CountIn(histogram), 3);
  for (const auto& values :
       {std::vector<float>{}, std::vector<float>{nan, kInfinity}}) {
    const Histogram none = HistogramOf(values, 1);
    EXPECT_EQ(CountIn(none), 0);
    EXPECT_EQ(none.front().left, 0);
    EXPECT_EQ(none.back().right, 0);
  }
}

TEST(HistogramMaker, HasTheWidestRange) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const Histogram histogram = HistogramOf({-kMost, 0, kMost}, 1);
  EXPECT_EQ(histogram.front().count, 1);
  EXPECT_EQ(histogram[kHistogramBuckets / 2].count, 1);
  EXPECT_EQ(histogram.back().count, 1);
  EXPECT_EQ(histogram.back().right, kMost);
}

}  // namespace
}  // namespace paceline
