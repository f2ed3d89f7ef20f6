#include "worker/device/program/memory_plan.h"

#include <random>

#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(MemoryPlanTest, NeedsNothingForNothing) {
  EXPECT_EQ(PlanMemory({}).size_bytes, 0);
}

TEST(MemoryPlanTest, BlocksOfDifferentTimesShareMemory) {
  const MemoryPlan plan =
      PlanMemory({{1000, 0, 1}, {1024, 2, 3}, {500, 4, 4}, {1, 5, 9}});
  EXPECT_EQ(plan.offsets, std::vector<int64_t>({0, 0, 0, 0}));
  EXPECT_EQ(plan.size_bytes, 1024);
}

TEST(MemoryPlanTest, ABlockIsNeededDuringItsLastOperation) {
  const MemoryPlan plan = PlanMemory({{256, 0, 2}, {256, 2, 3}});
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.size_bytes, 512);
}

TEST(MemoryPlanTest, FillsGaps) {
  // The small block fits where the second one has ended, below the third.
  const MemoryPlan plan = PlanMemory({{512, 0, 9}, {384, 0, 4}, {256, 5, 9}});
  EXPECT_EQ(plan.offsets, std::vector<int64_t>({0, 512, 512}));
  EXPECT_EQ(plan.size_bytes, 896);
}

TEST(MemoryPlanTest, BlocksThatLiveTogetherNeverOverlap) {
  std::minstd_rand random(5);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random() % 30);
      lifetimes.push_back({static_cast<int64_t>(random() % 5000), first,
                           first + static_cast<int>(random() % 8)});
    }
    const MemoryPlan plan = PlanMemory(lifetimes);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0);
      const int64_t end = plan.offsets[a] + lifetimes[a].size_bytes;
      EXPECT_LE(end, plan.size_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lifetimes[a].first > lifetimes[b].last ||
            lifetimes[b].first > lifetimes[a].last) {
          continue;
        }
        EXPECT_TRUE(end <= plan.offsets[b] ||
                    plan.offsets[b] + lifetimes[b].size_bytes <=
                        plan.offsets[a])
            << "blocks " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace paceline
