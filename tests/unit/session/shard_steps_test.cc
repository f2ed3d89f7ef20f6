#include "common/session/machine/shard_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShardStepsTest, EachStepIsOneOnEveryShardThatHasSomethingToUpdate) {
  const ShardSteps steps({{0, 1}, {20, 3}, {7, 0}});
  EXPECT_THAT(steps.After(0), ElementsAre(StepBounds{0, 0}, StepBounds{20, 20},
                                          StepBounds{7, 7}));
  EXPECT_THAT(steps.After(5), ElementsAre(StepBounds{5, 5}, StepBounds{25, 25},
                                          StepBounds{7, 7}));
}

TEST(ShardStepsTest, AShardThatMissedTheLastPushOfALostWorkerStaysBehind) {
  ShardSteps steps({{0, 1}, {0, 1}, {0, 2}});
  steps.Fenced({4, 3, 4});
  EXPECT_THAT(steps.After(10), ElementsAre(StepBounds{10, 10}, StepBounds{9, 9},
                                           StepBounds{9, 10}));
  steps.Fenced({8, 7, 7});
  EXPECT_THAT(
      steps.After(20),
      ElementsAre(StepBounds{20, 20}, StepBounds{18, 18}, StepBounds{17, 19}));
  steps.Fenced({0, 0, 0});
  EXPECT_THAT(
      steps.After(20),
      ElementsAre(StepBounds{20, 20}, StepBounds{18, 18}, StepBounds{17, 19}))
      << "a worker that had pushed nothing";
}

TEST(ShardStepsTest, KnowsNothingOfUnknownShards) {
  ShardSteps steps({});
  steps.Fenced({4, 3});
  EXPECT_THAT(steps.After(10), IsEmpty());
}

}  // namespace
}  // namespace paceline
