// Kernels of the CPU device that have formulas of their own.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "worker/device/cpu/kernels/exp.h"

namespace paceline::cpu {
namespace {

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

}  // namespace
}  // namespace paceline::cpu
