#include "common/session/machine/step_log.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace paceline {
namespace {

// Step and total.
std::vector<std::pair<int64_t, double>> RowsOf(const StepLog& log) {
  std::vector<std::pair<int64_t, double>> rows;
  for (const StepRow& row : log.rows()) rows.emplace_back(row.step, row.total);
  return rows;
}

TEST(StepLogTest, AddsUpWhatReplicasTakeTogether) {
  StepLog log(/*adds_up=*/true);
  for (const StepRow& row : std::vector<StepRow>{
           {1, 4, 2}, {2, 3, 2}, {1, 2, 1}, {3, 1, 1}, {2, 1, 1}}) {
    log.Add(row);
  }
  EXPECT_EQ(RowsOf(log),
            (std::vector<std::pair<int64_t, double>>{{1, 6}, {2, 4}, {3, 1}}));
  EXPECT_EQ(log.rows()[0].weight, 3);
}

TEST(StepLogTest, ElseEachPushIsARow) {
  StepLog log;
  for (const StepRow& row :
       std::vector<StepRow>{{2, 3, 1}, {1, 4, 1}, {2, 5, 1}}) {
    log.Add(row);
  }
  EXPECT_EQ(RowsOf(log),
            (std::vector<std::pair<int64_t, double>>{{1, 4}, {2, 3}, {2, 5}}));
}

}  // namespace
}  // namespace paceline
