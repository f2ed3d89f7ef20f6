// Moments of parts are those of all rows.
#include "common/base/merge_moments.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr int64_t kColumns = 2;

struct Moments {
  double rows = 0;
  std::array<double, kColumns> means = {};
  std::array<double, kColumns> deviations = {};

  void Merge(const Moments& from) {
    ColumnMoments merged = {rows, means.data(), deviations.data()};
    MergeMoments({from.rows, from.means.data(), from.deviations.data()},
                 kColumns, merged);
    rows = merged.rows;
  }
};

using Rows = std::vector<std::array<double, kColumns>>;

Moments MomentsOf(const Rows& rows) {
  Moments moments = {.rows = static_cast<double>(rows.size())};
  for (int64_t c = 0; c < kColumns; ++c) {
    for (const auto& row : rows) moments.means[c] += row[c] / moments.rows;
    for (const auto& row : rows) {
      const double difference = row[c] - moments.means[c];
      moments.deviations[c] += difference * difference;
    }
  }
  return moments;
}

TEST(MergeMomentsTest, OfPartsAreThoseOfAllRowsBesideLargeMeansToo) {
  for (const double mean : {0.0, 1e8}) {
    const Rows a = {{mean + 3, 1}, {mean - 1, -2}, {mean, 5}};
    const Rows b = {{mean + 2, 7}};
    Rows all = a;
    all.insert(all.end(), b.begin(), b.end());
    Moments merged;
    for (const Rows& part : {Rows(), a, Rows(), b, Rows()}) {
      merged.Merge(MomentsOf(part));
    }
    EXPECT_EQ(merged.rows, 4);
    EXPECT_THAT(merged.means, Pointwise(DoubleNear(1e-15 * (mean + 10)),
                                        MomentsOf(all).means));
    // A mean of 1e8 has 1e-8 as its last place.
    EXPECT_THAT(merged.deviations,
                Pointwise(DoubleNear(1e-7), MomentsOf(all).deviations));
  }
}

TEST(MergeMomentsTest, OfEqualRowsHaveNoDeviation) {
  Moments merged = MomentsOf({{0.1, 1e30}});
  for (int i = 0; i < 10; ++i) merged.Merge(MomentsOf({{0.1, 1e30}}));
  EXPECT_EQ(merged.means, (std::array<double, kColumns>{0.1, 1e30}));
  EXPECT_EQ(merged.deviations, (std::array<double, kColumns>{0, 0}));
}

TEST(MergeMomentsTest, NanStays) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Moments merged = MomentsOf({{nan, 1}});
  merged.Merge(MomentsOf({{2, 1}}));
  EXPECT_TRUE(std::isnan(merged.means[0]));
  EXPECT_TRUE(std::isnan(merged.deviations[0]));
  EXPECT_EQ(merged.deviations[1], 0);
}

}  // namespace
}  // namespace paceline
