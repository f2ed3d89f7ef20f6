#include "coordinator/queue/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;

class FitTest : public ::testing::Test {
 protected:
  void Add(TaskType type, const Resources& total, const Labels& labels = {}) {
    Daemon& daemon = daemons_.emplace_back();
    daemon.name = absl::StrCat("node-", daemons_.size());
    daemon.type = type;
    daemon.labels = labels;
    daemon.total = total;
    rooms_.push_back({&daemon, total});
  }

  // How many tasks each daemon gets, the leader among them.
  static std::map<std::string, int> CountByDaemon(
      const Assignment& assignment) {
    std::map<std::string, int> counts;
    for (const auto& [task, daemon] : assignment) ++counts[daemon];
    return counts;
  }

  std::list<Daemon> daemons_;
  std::vector<Room> rooms_;
};

GroupDemand Workers(int count, const Resources& each) {
  return {TaskType::kWorker, count, each, {}};
}

TEST_F(FitTest, TheLeaderIsBesidePs0) {
  Add(TaskType::kWorker, {4000, kGiB, 0});
  Add(TaskType::kPs, {4000, kGiB, 0});
  const Demand demand = {
      {{TaskType::kPs, 1, {1000, 0, 0}, {}}, Workers(2, {2000, 0, 0})},
      {500, 0, 0}};
  const auto found = Fit(demand, rooms_);
  ASSERT_TRUE(found.has_value());
  const Assignment expected = {{kLeaderTask, "node-2"},
                               {{TaskType::kPs, 0}, "node-2"},
                               {{TaskType::kWorker, 0}, "node-1"},
                               {{TaskType::kWorker, 1}, "node-1"}};
  EXPECT_EQ(*found, expected);
}

TEST_F(FitTest, TasksGoToFewDaemons) {
  for (int i = 0; i < 3; ++i) Add(TaskType::kWorker, {2000, 0, 0});
  Add(TaskType::kWorker, {8000, 0, 0});
  Add(TaskType::kWorker, {4000, 0, 0});
  const auto found = Fit({{Workers(4, {2000, 0, 0})}, {}}, rooms_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(CountByDaemon(*found), (std::map<std::string, int>{{"node-4", 5}}));
}

// The leader makes the task beside it larger. It goes where no place for
// another task is lost.
TEST_F(FitTest, TheLeaderTakesThePlaceThatNobodyNeeds) {
  Add(TaskType::kWorker, {4000, 0, 0});
  Add(TaskType::kWorker, {3000, 0, 0});
  const auto found = Fit({{Workers(3, {2000, 0, 0})}, {1000, 0, 0}}, rooms_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->front().second, "node-2");
  EXPECT_FALSE(Fit({{Workers(3, {2000, 0, 0})}, {2000, 0, 0}}, rooms_));
}

TEST_F(FitTest, ADaemonMustHaveTheLabels) {
  Add(TaskType::kWorker, {8000, 0, 0}, {{"zone", "a"}});
  Add(TaskType::kWorker, {8000, 0, 0}, {{"zone", "b"}, {"disk", "fast"}});
  Demand demand = {{Workers(1, {1000, 0, 0})}, {}};
  demand.groups[0].labels = {{"zone", "b"}};
  ASSERT_TRUE(Fit(demand, rooms_).has_value());
  EXPECT_EQ(Fit(demand, rooms_)->front().second, "node-2");
  demand.groups[0].labels = {{"zone", "a"}, {"disk", "fast"}};
  EXPECT_FALSE(Fit(demand, rooms_));
}

TEST_F(FitTest, SaysWhatIsMissing) {
  Add(TaskType::kWorker, {8000, 16 * kGiB, 0});
  Add(TaskType::kPs, {8000, 16 * kGiB, 0});
  EXPECT_EQ(WhatIsMissing({{Workers(4, {3000, 4 * kGiB, 0})}, {}}, rooms_),
            "4 workers of 3 cores, 4 GiB each: room for 2 on 1 daemon");
  EXPECT_THAT(WhatIsMissing({{Workers(1, {1000, 0, 1})}, {}}, rooms_),
              HasSubstr("1 core, 1 GPU each: room for 0 on 1 daemon"));
  EXPECT_THAT(WhatIsMissing({{Workers(2, {4000, 0, 0})}, {1000, 0, 0}}, rooms_),
              HasSubstr("the leader, of 1 core, beside worker-0: no room"));
  EXPECT_EQ(WhatIsMissing({{Workers(2, {4000, 0, 0})}, {}}, rooms_), "");
}

// Tries all assignments of a group and its leader.
bool FitsByTrial(int left, const Resources& need, const Resources& leader,
                 std::vector<Resources>& free, bool is_first = true) {
  if (left == 0) return true;
  for (Resources& each : free) {
    const Resources all = is_first ? need + leader : need;
    if (!all.FitsInto(each)) continue;
    each -= all;
    const bool fits = FitsByTrial(left - 1, need, leader, free, false);
    each += all;
    if (fits) return true;
  }
  return false;
}

TEST_F(FitTest, FindsRoomExactlyWhereThereIsSome) {
  std::mt19937 random(1);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int fitting = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    daemons_.clear();
    rooms_.clear();
    std::vector<Resources> free;
    for (int i = 0; i < 4; ++i) {
      free.push_back({draw(0, 9), draw(0, 9), draw(0, 2)});
      Add(TaskType::kWorker, free.back());
    }
    const Resources need = {draw(0, 4), draw(0, 4), draw(0, 1)};
    const Resources leader = {draw(0, 4), draw(0, 4), 0};
    const int count = static_cast<int>(draw(1, 5));
    const auto found = Fit({{Workers(count, need)}, leader}, rooms_);
    ASSERT_EQ(found.has_value(), FitsByTrial(count, need, leader, free))
        << "trial " << trial;
    if (!found) continue;
    ++fitting;
    ASSERT_EQ(found->size(), count + 1);
    std::map<std::string, Resources> taken;
    for (const auto& [task, daemon] : *found) {
      taken[daemon] += task == kLeaderTask ? leader : need;
    }
    for (const Room& room : rooms_) {
      EXPECT_TRUE(taken[room.daemon->name].FitsInto(room.free));
    }
  }
  EXPECT_GT(fitting, 200);
  EXPECT_LT(fitting, 1800);
}

}  // namespace
}  // namespace paceline
