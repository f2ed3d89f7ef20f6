#include "worker/collective/reduce_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

// The value of a binary16, from its definition in IEEE 754.
double ValueOfFloat16(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = bits >> 15 == 0 ? 1 : -1;
  if (exponent == 0x1F) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(ReduceKernelsTest, EveryFloat16KeepsItsValueAndComesBack) {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<float> values(bits.size());
  FromFloat16(bits.data(), values.data(), static_cast<int64_t>(bits.size()));
  std::vector<uint16_t> back(bits.size());
  ToFloat16(values.data(), back.data(), static_cast<int64_t>(bits.size()));
  for (size_t i = 0; i < bits.size(); ++i) {
    const double expected = ValueOfFloat16(bits[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(values[i])) << i;
      ASSERT_TRUE(std::isnan(ValueOfFloat16(back[i]))) << i;
    } else {
      ASSERT_EQ(values[i], expected) << i;
      ASSERT_EQ(back[i], bits[i]);
    }
  }
}

// Half way between two neighbours the even one is taken, beside it the nearer.
TEST(ReduceKernelsTest, Float16RoundsToTheNearestTiesToEven) {
  for (uint32_t low = 0; low < 0x7BFF; ++low) {
    const double a = ValueOfFloat16(static_cast<uint16_t>(low));
    const double b = ValueOfFloat16(static_cast<uint16_t>(low + 1));
    const float middle = static_cast<float>((a + b) / 2);
    const float values[] = {std::nextafter(middle, 0.0f), middle,
                            std::nextafter(middle, 1e9f)};
    uint16_t rounded[3];
    ToFloat16(values, rounded, 3);
    ASSERT_EQ(rounded[0], low);
    ASSERT_EQ(rounded[1], low + low % 2);
    ASSERT_EQ(rounded[2], low + 1);
  }
  const float large[] = {65519.9f, 65520.0f, 1e30f,
                         -std::numeric_limits<float>::infinity()};
  uint16_t rounded[4];
  ToFloat16(large, rounded, 4);
  EXPECT_THAT(rounded, testing::ElementsAre(0x7BFF, 0x7C00, 0x7C00, 0xFC00));
}

TEST(ReduceKernelsTest, BFloat16RoundsToTheNearestTiesToEven) {
  for (uint32_t low = 0; low < 0x7F7F; ++low) {
    const float values[] = {std::bit_cast<float>(low << 16),
                            std::bit_cast<float>(low << 16 | 0x7FFF),
                            std::bit_cast<float>(low << 16 | 0x8000),
                            std::bit_cast<float>(low << 16 | 0x8001)};
    uint16_t rounded[4];
    ToBFloat16(values, rounded, 4);
    ASSERT_THAT(rounded,
                testing::ElementsAre(low, low, low + low % 2, low + 1));
    float back = 0;
    FromBFloat16(rounded, &back, 1);
    ASSERT_EQ(back, values[0]);
  }
  const float nan = std::bit_cast<float>(0x7F800001u);
  uint16_t rounded = 0;
  ToBFloat16(&nan, &rounded, 1);
  float back = 0;
  FromBFloat16(&rounded, &back, 1);
  EXPECT_TRUE(std::isnan(back));
}

TEST(ReduceKernelsTest, SumsAreInFloat) {
  const float values[] = {1.0f, 0.5f, 1024.0f};
  uint16_t wire[3];
  std::vector<float> sums = {0x1p-20f, 2.0f, 3.0f};
  ToFloat16(values, wire, 3);
  AddFloat16(wire, sums.data(), 3);
  EXPECT_THAT(sums, testing::ElementsAre(1.0f + 0x1p-20f, 2.5f, 1027.0f));
  ToBFloat16(values, wire, 3);
  AddBFloat16(wire, sums.data(), 3);
  EXPECT_THAT(sums, testing::ElementsAre(2.0f + 0x1p-20f, 3.0f, 2051.0f));
  AddTo(sums.data(), values, 3);
  EXPECT_THAT(sums, testing::ElementsAre(3.0f + 0x1p-20f, 3.5f, 3075.0f));
}

}  // namespace
}  // namespace paceline
