#include "coordinator/service/progress_board.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

const absl::Time kBoardTime = absl::UnixEpoch();

bool IsAlwaysOpen(const std::string& /*job*/) { return true; }

v1::JobProgress Steps(uint64_t steps) {
  v1::JobProgress progress;
  progress.mutable_current()->set_steps_done(steps);
  return progress;
}

TEST(ProgressBoardTest, KeepsTheNewestOfAStart) {
  ProgressBoard board;
  EXPECT_FALSE(board.Find("a", 1).has_value());
  board.Put("a", 1, Steps(1), IsAlwaysOpen);
  const auto first = board.Find("a", 1);
  ASSERT_TRUE(first.has_value());
  board.Put("b", 1, Steps(7), IsAlwaysOpen);
  board.Put("a", 1, Steps(2), IsAlwaysOpen);
  const auto second = board.Find("a", 1);
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(first->number, second->number);
  EXPECT_EQ(second->progress.current().steps_done(), 2);
  board.Put("a", 2, Steps(3), IsAlwaysOpen);
  EXPECT_FALSE(board.Find("a", 1).has_value());
  EXPECT_TRUE(board.Find("a", 2).has_value());
}

TEST(ProgressBoardTest, KnowsWhoIsFollowed) {
  ProgressBoard board;
  EXPECT_FALSE(board.IsFollowed("a", kBoardTime));
  board.Follow("a", kBoardTime, IsAlwaysOpen);
  EXPECT_TRUE(board.IsFollowed("a", kBoardTime + absl::Seconds(5)));
  EXPECT_FALSE(board.IsFollowed("a", kBoardTime + absl::Minutes(1)));
  EXPECT_FALSE(board.Find("a", 0).has_value());
}

TEST(ProgressBoardTest, ForgetsJobsThatHaveEnded) {
  ProgressBoard board;
  const auto is_open = [](const std::string& job) { return job == "open"; };
  board.Put("open", 1, Steps(1), is_open);
  for (int i = 0; i < 1000; ++i) {
    board.Put(absl::StrCat("ended-", i), 1, Steps(1), is_open);
    EXPECT_LE(board.size(), 64);
  }
  EXPECT_TRUE(board.Find("open", 1).has_value());
}

}  // namespace
}  // namespace paceline
