// Kernels of the CPU device that have formulas of their own.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/device/arg_max.h"
#include "worker/device/cpu/kernels/arg_max.h"
#include "worker/device/cpu/kernels/exp.h"

namespace paceline::cpu {
namespace {

using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(VectorExpTest, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const float x = -87 + 175.7f * static_cast<float>(i) / 400'000;
    const double expected = std::exp(static_cast<double>(x));
    const auto nearest = static_cast<float>(expected);
    const double unit = double{std::nextafter(nearest, kInfinity)} - nearest;
    worst = std::max(worst, std::abs(VectorExp(x) - expected) / unit);
  }
  EXPECT_LT(worst, 2);
}

TEST(VectorExpTest, HasTheLimitsOfExp) {
  EXPECT_EQ(VectorExp(0), 1);
  EXPECT_EQ(VectorExp(-kInfinity), 0);
  EXPECT_EQ(VectorExp(-1000), 0);
  EXPECT_EQ(VectorExp(kInfinity), kInfinity);
  EXPECT_EQ(VectorExp(1000), kInfinity);
  EXPECT_TRUE(std::isnan(VectorExp(kNan)));
  EXPECT_TRUE(std::isnan(VectorExp(-kNan)));
}

TEST(ArgMaxOfRowsTest, TakesTheFirstOfEqualOnesAndNanLast) {
  const std::vector<float> rows = {1,    3,    3,           //
                                   kNan, -2,   kNan,        //
                                   kNan, kNan, kNan,        //
                                   kNan, kNan, -kInfinity,  //
                                   5,    kNan, kInfinity};
  int32_t indices[5];
  ArgMaxOfRows(5, 3, rows.data(), indices);
  EXPECT_THAT(indices, ElementsAre(1, 1, 0, 2, 2));
}

TEST(ArgMaxOfRowsTest, FindsItAnywhereInLongRows) {
  for (const int64_t size : {1, 7, 16, 17, 100, 1000}) {
    std::vector<float> row(size);
    for (int64_t i = 0; i < size; ++i) {
      row[i] = i % 5 == 3 ? kNan : static_cast<float>(i * 7919 % 101);
    }
    for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
      std::vector<float> with_largest = row;
      with_largest[at] = 200;
      int32_t index = -1;
      ArgMaxOfRows(1, size, with_largest.data(), &index);
      EXPECT_EQ(index, at) << size;
      EXPECT_EQ(ArgMaxOf(with_largest.data(), size), at) << size;
    }
    int32_t index = -1;
    ArgMaxOfRows(1, size, row.data(), &index);
    EXPECT_EQ(index, ArgMaxOf(row.data(), size)) << size;
  }
}

}  // namespace
}  // namespace paceline::cpu
