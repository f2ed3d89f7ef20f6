#include "common/model/window.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(WindowTest, ValidPadsNothing) {
  const WindowExtent extent =
      ExtentOf({.size = 3, .stride = 2, .padding = Padding::kValid}, 8);
  EXPECT_EQ(extent.output, 3);
  EXPECT_EQ(extent.pad_before, 0);
  // The last element is not reached.
  EXPECT_EQ(extent.pad_after, -1);
}

TEST(WindowTest, ValidHasNoPositionWhereTheWindowDoesNotFit) {
  EXPECT_EQ(ExtentOf({.size = 3}, 2).output, 0);
  EXPECT_EQ(ExtentOf({.size = 2, .dilation = 3}, 3).output, 0);
  EXPECT_EQ(ExtentOf({.size = 2, .dilation = 3}, 4).output, 1);
}

TEST(WindowTest, SamePutsTheSmallerHalfInFront) {
  const WindowExtent extent =
      ExtentOf({.size = 4, .padding = Padding::kSame}, 5);
  EXPECT_EQ(extent.output, 5);
  EXPECT_EQ(extent.pad_before, 1);
  EXPECT_EQ(extent.pad_after, 2);
}

// Keras' rule, literally: out = ceil(in / s), total = max((out - 1) s + k - in,
// 0).
TEST(WindowTest, SameFollowsTheRule) {
  for (int64_t input = 1; input <= 12; ++input) {
    for (int64_t size = 1; size <= 5; ++size) {
      for (int64_t stride = 1; stride <= 4; ++stride) {
        const WindowExtent extent = ExtentOf(
            {.size = size, .stride = stride, .padding = Padding::kSame}, input);
        const int64_t output = (input + stride - 1) / stride;
        const int64_t total =
            std::max<int64_t>((output - 1) * stride + size - input, 0);
        EXPECT_EQ(extent.output, output);
        EXPECT_EQ(extent.pad_before, total / 2);
        EXPECT_EQ(std::max<int64_t>(extent.pad_after, 0), total - total / 2);
      }
    }
  }
}

TEST(WindowTest, CausalPadsOnlyTheStart) {
  const WindowExtent extent =
      ExtentOf({.size = 3, .dilation = 2, .padding = Padding::kCausal}, 5);
  EXPECT_EQ(extent.output, 5);
  EXPECT_EQ(extent.pad_before, 4);
  EXPECT_EQ(extent.pad_after, 0);
}

TEST(WindowTest, CausalFitsSequencesShorterThanTheWindow) {
  const WindowExtent extent =
      ExtentOf({.size = 4, .stride = 3, .padding = Padding::kCausal}, 2);
  EXPECT_EQ(extent.output, 1);
  EXPECT_EQ(extent.pad_before, 3);
  // The last element is not reached.
  EXPECT_EQ(extent.pad_after, -1);
}

}  // namespace
}  // namespace paceline
