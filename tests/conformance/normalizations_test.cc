// What the normalizations, and the moments that they read, compute on the
// reference device, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/operations/batch_moments.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/group_normalization.h"
#include "common/operations/reshape.h"
#include "tests/conformance/operation_fixture.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pointwise;

using Tensors = absl::Span<const op::Tensor>;

TEST(BatchMomentsTest, SmallVarianceBesideALargeMeanKeepsItsDigits) {
  const OperationCase variance = {
      "", {{4, 1}}, [](Tensors in) {
        return op::BatchMoments(in[0], false).variance;
      }};
  constexpr double kMean = 1 << 20;
  const reference::Array output =
      Output(variance, DataType::kFloat32,
             {{kMean - 0.5, kMean + 0.5, kMean - 0.5, kMean + 0.5}});
  EXPECT_EQ(ValuesOf(output)[0], 0.25);
}

TEST(BatchMomentsTest, OfNothingIsZero) {
  EXPECT_THAT(Values({"",
                      {{0, 2}},
                      [](Tensors in) {
                        const op::Moments moments =
                            op::BatchMoments(in[0], false);
                        return op::Concatenate({op::Reshape(moments.count, {1}),
                                                moments.mean, moments.variance},
                                               0);
                      }},
                     {{}}),
              ElementsAre(0, 0, 0, 0, 0));
}

// Normalizes by mean 1 and, per channel, by variance + epsilon: 4, 0.25 and
// NaN. A negative variance counts as 0.
OperationCase GivenNormalization(const op::Clamp& clamp) {
  return {"", {{2, 3}}, [clamp](Tensors in) {
            const auto numbers = [&in](std::vector<double> values) {
              return op::Constants(in[0].function(), in[0].data_type(),
                                   std::move(values));
            };
            const op::Tensor mean = numbers({1, 1, 1});
            const op::Tensor variance = numbers({3.75, -1, kNan});
            const op::Tensor beta = numbers({0, 0.5, 0});
            return op::ClampNormalization(
                op::NormalizeChannels(in[0], mean, variance,
                                      {.gamma = {}, .beta = beta}, 0.25),
                clamp);
          }};
}

TEST(ChannelNormalizationTest, AVarianceBelowZeroIsZeroAndNaNStays) {
  EXPECT_THAT(Values(GivenNormalization({}), {{5, 5, 5, -7, -7, -7}}),
              ElementsAre(2, 8.5, IsNan(), -4, -15.5, IsNan()));
}

TEST(ChannelNormalizationTest, NaNPassesAClamp) {
  EXPECT_THAT(Values(GivenNormalization({.floor = 0, .ceiling = 6}),
                     {{5, 5, 5, -7, -7, -7}}),
              ElementsAre(2, 6, IsNan(), 0, 0, IsNan()));
}

TEST(ChannelNormalizationTest, OfNothingIsNothingAndHasZeroSums) {
  const OperationCase normalization = {
      "", {{0, 2}, {2}, {2}}, [](Tensors in) {
        const op::Moments moments = op::BatchMoments(in[0], false);
        return op::NormalizeByBatch(in[0], moments, false, {in[1], in[2]}, 0.1);
      }};
  EXPECT_THAT(
      GradientsOf(normalization, DataType::kFloat32, {{}, {1, 2}, {3, 4}}, {}),
      ElementsAre(IsEmpty(), ElementsAre(0, 0), ElementsAre(0, 0)));
}

// Two examples of two positions and four columns; a group has two adjacent
// columns.
TEST(GroupNormalizationTest, NormalizesAGroupOverItsPositions) {
  const OperationCase normalized = {"", {{2, 2, 4}, {4}, {4}}, [](Tensors in) {
                                      return op::GroupNormalization(
                                          in[0], in[1], in[2], /*groups=*/2,
                                          /*epsilon=*/0);
                                    }};
  EXPECT_THAT(Values(normalized, {{1, 1, 7, 3, 3, 3, 7, 3,  //
                                   5, 9, 0, 2, 9, 5, 2, 0},
                                  {1, 1, 1, 10},
                                  {0, 100, 0, 0}}),
              Pointwise(DoubleNear(1e-12), {-1, 99, 1, -10, 1, 101, 1, -10,  //
                                            -1, 101, -1, 10, 1, 99, 1, -10}));
}

TEST(GroupNormalizationTest, SmallVarianceBesideALargeMeanKeepsItsDigits) {
  const OperationCase normalized = {"", {{1, 1, 4}}, [](Tensors in) {
                                      return op::GroupNormalization(
                                          in[0], {}, {}, /*groups=*/1,
                                          /*epsilon=*/0);
                                    }};
  constexpr double kMean = 1 << 20;
  const reference::Array output =
      Output(normalized, DataType::kFloat32,
             {{kMean - 0.5, kMean + 0.5, kMean - 0.5, kMean + 0.5}});
  EXPECT_THAT(ValuesOf(output), ElementsAre(-1, 1, -1, 1));
}

}  // namespace
}  // namespace paceline
