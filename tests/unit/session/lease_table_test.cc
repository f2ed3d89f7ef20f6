#include "common/session/machine/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TaskId kFirst = {TaskType::kWorker, 0};
constexpr TaskId kSecond = {TaskType::kWorker, 1};
constexpr int64_t kNoLimit = 1'000'000;

LeaseTable MakeTable(int64_t examples, int64_t batch_size) {
  LeaseTable::Options options;
  options.batch_size = batch_size;
  const ExampleRange all = {0, examples};
  return LeaseTable(options, absl::MakeConstSpan(&all, 1), PassTotals());
}

// A report whose sums tell the examples: total = 2 * examples.
LeaseReport MakeReport(uint64_t lease_id, int64_t examples, int64_t steps) {
  LeaseReport report;
  report.lease_id = lease_id;
  report.examples = examples;
  report.steps = steps;
  report.states = {2.0 * static_cast<double>(examples),
                   static_cast<double>(examples)};
  return report;
}

void Finish(LeaseTable& table, TaskId worker, const v1::Lease& lease) {
  const int64_t size = lease.end() - lease.begin();
  auto finished = table.Report(worker, MakeReport(lease.id(), size, 1));
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_TRUE(*finished);
}

TEST(LeaseTableTest, LeasesShrinkAndCoverTheSetOnce) {
  LeaseTable table = MakeTable(/*examples=*/1000, /*batch_size=*/8);
  int64_t position = 0;
  int64_t last_size = 1000;
  while (auto lease = table.Grant(kFirst, 2, kNoLimit)) {
    EXPECT_EQ(lease->begin(), position);
    const int64_t size = lease->end() - lease->begin();
    EXPECT_LE(size, last_size);
    EXPECT_TRUE(size % 8 == 0 || lease->end() == 1000);
    position = lease->end();
    last_size = size;
    Finish(table, kFirst, *lease);
  }
  EXPECT_EQ(position, 1000);
  EXPECT_LE(last_size, 8);
  EXPECT_TRUE(table.Done());
  EXPECT_EQ(table.Totals().examples, 1000);
  EXPECT_EQ(table.Totals().states[0], 2000);
}

TEST(LeaseTableTest, WhatIsTakenAtOnceIsNotCut) {
  LeaseTable::Options options;
  options.batch_size = 2;
  options.batches_at_once = 5;
  const ExampleRange all = {0, 2 * 23};
  LeaseTable table(options, absl::MakeConstSpan(&all, 1), PassTotals());
  std::vector<int64_t> sizes;
  while (auto lease = table.Grant(kFirst, 2, /*max_steps=*/kNoLimit)) {
    sizes.push_back((lease->end() - lease->begin()) / 2);
    Finish(table, kFirst, *lease);
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{10, 5, 5, 3}));
}

TEST(LeaseTableTest, ASharedLeaseKeepsItsLearningRate) {
  LeaseTable::Options options;
  options.workers_per_lease = 2;
  const ExampleRange all = {0, 200};
  LeaseTable table(options, absl::MakeConstSpan(&all, 1), PassTotals());
  EXPECT_FALSE(table.Grant(kFirst, 2, kNoLimit)->has_learning_rate());
  EXPECT_EQ(table.Grant(kFirst, 2, kNoLimit, 0.25)->learning_rate(), 0.25);
  EXPECT_FALSE(table.Grant(kSecond, 2, kNoLimit, 0.5)->has_learning_rate());
  EXPECT_EQ(table.Grant(kSecond, 2, kNoLimit, 0.5)->learning_rate(), 0.25);
}

TEST(LeaseTableTest, LeaseIsBounded) {
  LeaseTable table = MakeTable(1'000'000, 1);
  auto lease = table.Grant(kFirst, 1, kNoLimit);
  EXPECT_EQ(lease->end() - lease->begin(), kMaxLeaseBatches);
  lease = table.Grant(kFirst, 1, /*max_steps=*/3);
  EXPECT_EQ(lease->end() - lease->begin(), 2) << "half of what may be leased";
  EXPECT_FALSE(table.Grant(kSecond, 1, /*max_steps=*/0));
}

TEST(LeaseTableTest, WorkerHoldsTwoLeasesAtMost) {
  LeaseTable table = MakeTable(1000, 1);
  const auto first = table.Grant(kFirst, 2, kNoLimit);
  ASSERT_TRUE(table.Grant(kFirst, 2, kNoLimit));
  EXPECT_FALSE(table.Grant(kFirst, 2, kNoLimit));
  EXPECT_TRUE(table.Grant(kSecond, 2, kNoLimit));
  Finish(table, kFirst, *first);
  EXPECT_TRUE(table.Grant(kFirst, 2, kNoLimit));
}

TEST(LeaseTableTest, RepeatedAndLateReportsCountOnce) {
  LeaseTable table = MakeTable(64, 8);
  const auto lease = table.Grant(kFirst, 1, kNoLimit);
  ASSERT_EQ(lease->end(), 32);
  EXPECT_FALSE(*table.Report(kFirst, MakeReport(lease->id(), 16, 2)));
  EXPECT_FALSE(*table.Report(kFirst, MakeReport(lease->id(), 16, 2)));
  EXPECT_FALSE(*table.Report(kFirst, MakeReport(lease->id(), 8, 1)));
  EXPECT_EQ(table.Totals().examples, 16);
  EXPECT_EQ(table.Totals().steps, 2);
  EXPECT_TRUE(*table.Report(kFirst, MakeReport(lease->id(), 32, 4)));
  EXPECT_FALSE(*table.Report(kFirst, MakeReport(lease->id(), 32, 4)));
  EXPECT_EQ(table.Totals().examples, 32);
  EXPECT_EQ(table.Totals().states[1], 32);
}

TEST(LeaseTableTest, RefusesImpossibleReports) {
  LeaseTable table = MakeTable(64, 8);
  const auto lease = table.Grant(kFirst, 1, kNoLimit);
  auto result = table.Report(kFirst, MakeReport(lease->id(), 33, 5));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("33 examples of lease 1, which has 32"));

  result = table.Report(kSecond, MakeReport(lease->id(), 8, 1));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("belongs to worker-0, not to worker-1"));

  result = table.Report(kFirst, MakeReport(lease->id(), 8, 5));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("worker-0 reports 5 steps of lease 1, which has 4"));
  EXPECT_EQ(table.Totals().examples, 0);

  ASSERT_TRUE(table.Report(kFirst, MakeReport(lease->id(), 16, 2)).ok());
  for (const auto& [examples, steps] : {std::pair{8, 3}, std::pair{24, 1}}) {
    result = table.Report(kFirst, MakeReport(lease->id(), examples, steps));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(result.status().message()),
                HasSubstr("after 16 in 2; expected both to grow"));
  }
  EXPECT_EQ(table.Totals().examples, 16);
}

TEST(LeaseTableTest, EvaluationLeasesGoBackWhole) {
  LeaseTable table = MakeTable(64, 8);
  const auto lease = table.Grant(kFirst, 1, kNoLimit);
  ASSERT_TRUE(table.Report(kFirst, MakeReport(lease->id(), 16, 2)).ok());
  table.ReturnWhole(kFirst);
  EXPECT_THAT(table.Remaining(), ElementsAre(ExampleRange{0, 64}));
  EXPECT_EQ(table.Totals().examples, 0);
  const auto again = table.Grant(kSecond, 1, kNoLimit);
  EXPECT_EQ(again->begin(), 0);
  EXPECT_NE(again->id(), lease->id());
}

TEST(LeaseTableTest, FencedWorkerIsCountedByTheFurthestShard) {
  LeaseTable table = MakeTable(64, 8);
  const auto lease = table.Grant(kFirst, 1, kNoLimit);
  ASSERT_TRUE(table.Report(kFirst, MakeReport(lease->id(), 8, 1)).ok());
  const std::vector<LeaseReport> records = {MakeReport(lease->id(), 16, 2),
                                            MakeReport(lease->id(), 24, 3)};
  ASSERT_TRUE(table.ReturnRest(kFirst, records).ok());
  EXPECT_EQ(table.Totals().examples, 24);
  EXPECT_EQ(table.Totals().steps, 3);
  EXPECT_EQ(table.Totals().states[0], 48);
  EXPECT_THAT(table.Remaining(), ElementsAre(ExampleRange{24, 64}));
  EXPECT_EQ(table.steps_total(), 8);
}

// Lost between two chunks of its third step, of which one shard has all and one
// has nothing but the position; of a shard that has less no sums are taken.
TEST(LeaseTableTest, ExamplesOfAnEarlyPushCountWithTheSumsBeforeIt) {
  for (const bool some_have_sums : {false, true}) {
    LeaseTable table = MakeTable(64, 8);
    const auto lease = table.Grant(kFirst, 1, kNoLimit);
    LeaseReport early = MakeReport(lease->id(), 24, 3);
    early.states.clear();
    std::vector<LeaseReport> records = {early, MakeReport(lease->id(), 16, 2)};
    if (some_have_sums) records.push_back(MakeReport(lease->id(), 24, 3));
    ASSERT_TRUE(table.ReturnRest(kFirst, records).ok());
    EXPECT_EQ(table.Totals().examples, 24);
    EXPECT_EQ(table.Totals().steps, 3);
    EXPECT_EQ(table.Totals().states[0], some_have_sums ? 48 : 32);
    EXPECT_THAT(table.Remaining(), ElementsAre(ExampleRange{24, 64}));
  }
}

TEST(LeaseTableTest, LeaseThatNoShardKnowsGoesBackWhole) {
  LeaseTable table = MakeTable(64, 8);
  const auto first = table.Grant(kFirst, 1, kNoLimit);
  const auto second = table.Grant(kFirst, 1, kNoLimit);
  const auto other = table.Grant(kSecond, 1, kNoLimit);
  ASSERT_TRUE(other);
  ASSERT_TRUE(
      table.ReturnRest(kFirst, {{MakeReport(first->id(), 32, 4)}}).ok());
  EXPECT_EQ(table.Totals().examples, 32);
  EXPECT_EQ(table.Remaining().front().begin, second->begin());
  EXPECT_TRUE(table.Holds(kSecond));
}

TEST(LeaseTableTest, LeaseFinishedBeforeTheLastPushIsCountedWithItsSums) {
  LeaseTable table = MakeTable(64, 8);
  const auto first = table.Grant(kFirst, 1, kNoLimit);
  const auto second = table.Grant(kFirst, 1, kNoLimit);
  ASSERT_TRUE(table.Report(kFirst, MakeReport(first->id(), 8, 1)).ok());
  ASSERT_TRUE(table
                  .ReturnRest(kFirst, {{MakeReport(first->id(), 32, 4),
                                        MakeReport(second->id(), 8, 1)}})
                  .ok());
  EXPECT_EQ(table.Totals().examples, 40);
  EXPECT_EQ(table.Totals().steps, 5);
  EXPECT_EQ(table.Totals().states[1], 40);
}

TEST(LeaseTableTest, GoesOnFromRanges) {
  LeaseTable::Options options;
  options.batch_size = 10;
  options.first_lease_id = 7;
  const std::vector<ExampleRange> ranges = {{40, 60}, {80, 95}};
  PassTotals counted;
  counted.examples = 60;
  counted.steps = 6;
  LeaseTable table(options, ranges, counted);
  EXPECT_EQ(table.steps_total(), 10);
  for (int i = 0; i < 4; ++i) {
    const auto lease = table.Grant(kFirst, 4, kNoLimit);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->id(), 7 + i);
    Finish(table, kFirst, *lease);
  }
  EXPECT_TRUE(table.Done());
  EXPECT_EQ(table.Totals().examples, 95);
  EXPECT_THAT(table.Remaining(), IsEmpty());
}

TEST(LeaseTableTest, WorkersThatShareLeasesGetThemInTheSameOrder) {
  LeaseTable::Options options;
  options.batch_size = 8;
  options.workers_per_lease = 2;
  const ExampleRange all = {0, 8 * kMaxLeaseBatches + 4};
  LeaseTable table(options, {&all, 1}, PassTotals());
  EXPECT_EQ(table.steps_total(), kMaxLeaseBatches + 1);
  const auto first = table.Grant(kFirst, 2, kNoLimit);
  const auto second = table.Grant(kFirst, 2, kNoLimit);
  EXPECT_EQ(first->end(), 8 * kMaxLeaseBatches);
  EXPECT_EQ(second->end(), all.end);
  EXPECT_FALSE(table.Grant(kFirst, 2, kNoLimit));
  EXPECT_EQ(table.Grant(kSecond, 2, kNoLimit)->id(), first->id());
  EXPECT_EQ(table.Grant(kSecond, 2, kNoLimit)->id(), second->id());
  EXPECT_FALSE(table.Grant(kSecond, 2, kNoLimit));
}

TEST(LeaseTableTest, SharedLeaseEndsWhenAllHaveTakenItsSteps) {
  LeaseTable::Options options;
  options.batch_size = 8;
  options.workers_per_lease = 2;
  const ExampleRange all = {0, 17};
  LeaseTable table(options, {&all, 1}, PassTotals());
  const auto lease = table.Grant(kFirst, 2, kNoLimit);
  ASSERT_TRUE(table.Grant(kSecond, 2, kNoLimit));
  // 4 of each step, then nothing of the last, which has one example.
  EXPECT_FALSE(*table.Report(kFirst, MakeReport(lease->id(), 8, 2)));
  EXPECT_FALSE(*table.Report(kSecond, MakeReport(lease->id(), 4, 1)));
  EXPECT_EQ(table.Totals().steps, 2);
  EXPECT_EQ(table.Totals().examples, 12);
  EXPECT_EQ(table.OpenSteps(), 1);
  EXPECT_EQ(
      table.Report(kSecond, MakeReport(lease->id(), 10, 3)).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(*table.Report(kSecond, MakeReport(lease->id(), 9, 3)));
  EXPECT_FALSE(table.Holds(kSecond));
  // All examples are there; the first still takes part in the last step.
  EXPECT_EQ(table.Totals().examples, 17);
  EXPECT_TRUE(table.Holds(kFirst));
  EXPECT_TRUE(*table.Report(kFirst, MakeReport(lease->id(), 8, 3)));
  EXPECT_TRUE(table.Done());
  EXPECT_EQ(table.Totals().steps, 3);
  EXPECT_EQ(table.Totals().examples, 17);
  EXPECT_EQ(table.Totals().states[0], 34);
}

TEST(LeaseTableTest, CommonStepsAreThoseThatAllWorkersHaveReported) {
  LeaseTable::Options options;
  options.batch_size = 8;
  options.workers_per_lease = 2;
  options.finds_common_steps = true;
  const ExampleRange all = {0, 8 * 100};
  LeaseTable table(options, {&all, 1}, PassTotals());
  const auto first = table.Grant(kFirst, 2, kNoLimit);
  const auto second = table.Grant(kFirst, 2, kNoLimit);
  ASSERT_TRUE(table.Grant(kSecond, 2, kNoLimit));
  ASSERT_TRUE(table.Grant(kSecond, 2, kNoLimit));
  ASSERT_TRUE(first && second);
  const auto report = [&](TaskId worker, const v1::Lease& lease,
                          int64_t steps) {
    ASSERT_TRUE(
        table.Report(worker, MakeReport(lease.id(), 4 * steps, steps)).ok());
  };
  report(kFirst, *first, 7);
  report(kSecond, *first, 6);
  EXPECT_EQ(table.CommonTotals().steps, 0);
  report(kFirst, *first, 9);
  report(kSecond, *first, 7);
  EXPECT_EQ(table.CommonTotals().steps, 7);
  EXPECT_EQ(table.CommonTotals().examples, 56);
  EXPECT_EQ(table.CommonTotals().states, (std::vector<double>{112, 56}));
  EXPECT_EQ(table.Totals().steps, 9);
  // The next lease counts once the first is done.
  report(kFirst, *first, 64);
  report(kFirst, *second, 2);
  EXPECT_EQ(table.CommonTotals().steps, 7);
  report(kSecond, *first, 64);
  EXPECT_EQ(table.CommonTotals().steps, 64);
  EXPECT_EQ(table.steps_settled(), 64);
  report(kSecond, *second, 2);
  EXPECT_EQ(table.CommonTotals().steps, 66);
  EXPECT_EQ(table.CommonTotals().states,
            (std::vector<double>{2 * 66 * 8, 66 * 8}));
}

// Two workers share a lease of 100 steps of 8 examples.
LeaseTable::Options LongLease() {
  LeaseTable::Options options;
  options.batch_size = 8;
  options.batches_at_once = 100;
  options.workers_per_lease = 2;
  options.finds_common_steps = true;
  return options;
}

TEST(LeaseTableTest, OnlySoManyStepsAreAwaited) {
  const ExampleRange all = {0, 8 * 100};
  LeaseTable table(LongLease(), {&all, 1}, PassTotals());
  const auto lease = table.Grant(kFirst, 2, kNoLimit);
  ASSERT_TRUE(lease && table.Grant(kSecond, 2, kNoLimit));
  ASSERT_EQ(lease->end(), 8 * 100);
  const auto report = [&](TaskId worker, int64_t examples, int64_t steps) {
    ASSERT_TRUE(
        table.Report(worker, MakeReport(lease->id(), examples, steps)).ok());
    EXPECT_EQ(table.CheckInvariants(), absl::OkStatus());
  };
  const auto most = static_cast<int64_t>(kMaxAwaitedSteps);
  for (int64_t steps = 1; steps <= most + 6; ++steps) {
    report(kFirst, 4 * steps, steps);
  }
  // The first six are forgotten.
  report(kSecond, 4 * 6, 6);
  EXPECT_EQ(table.CommonTotals().steps, 0);
  report(kSecond, 4 * 7, 7);
  EXPECT_EQ(table.CommonTotals().steps, 7);
  // More examples of a common step are impossible, but harmless.
  report(kSecond, 4 * 7 + 1, 7);
  EXPECT_EQ(table.CommonTotals().examples, 2 * 4 * 7);
  report(kSecond, 4 * most, most);
  EXPECT_EQ(table.CommonTotals().steps, most);
}

TEST(LeaseTableTest, CommonStepsHaveTheStatesOfOpenLeasesAlone) {
  LeaseTable::Options options = LongLease();
  options.state_size = 1000;
  options.reported_size = 3;
  const ExampleRange all = {0, 8 * 100};
  LeaseTable table(options, {&all, 1}, PassTotals());
  const auto lease = table.Grant(kFirst, 2, kNoLimit);
  ASSERT_TRUE(lease && table.Grant(kSecond, 2, kNoLimit));
  const auto report = [&](int64_t steps) {
    for (const TaskId worker : {kFirst, kSecond}) {
      LeaseReport whole = MakeReport(lease->id(), 4 * steps, steps);
      whole.states.resize(1000, 1);
      ASSERT_TRUE(table.Report(worker, whole).ok());
    }
  };
  report(10);
  const std::vector<double> states = table.CommonTotals().states;
  ASSERT_EQ(states.size(), 1000);
  EXPECT_THAT(std::vector<double>(states.begin(), states.begin() + 5),
              ElementsAre(160, 80, 2, 0, 0));
  report(100);
  EXPECT_EQ(table.CommonTotals().states.back(), 2);
}

// Reports have the loss alone until the lease ends.
TEST(LeaseTableTest, LargeStatesCountOnceALease) {
  LeaseTable::Options options;
  options.batch_size = 8;
  options.state_size = 3;
  const ExampleRange all = {0, 64};
  LeaseTable table(options, absl::MakeConstSpan(&all, 1), PassTotals());
  const auto lease = table.Grant(kFirst, 1, kNoLimit);
  ASSERT_TRUE(lease);
  ASSERT_EQ(lease->end(), 32u);
  ASSERT_TRUE(table.Report(kFirst, MakeReport(lease->id(), 16, 2)).ok());
  EXPECT_EQ(table.Totals().states, (std::vector<double>{32, 16, 0}));
  LeaseReport whole = MakeReport(lease->id(), 32, 4);
  whole.states.push_back(7);
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE(table.Report(kFirst, whole).ok());
    EXPECT_EQ(table.Totals().states, (std::vector<double>{64, 32, 7}));
  }
  // What is known of a worker that is lost are its pushes.
  const auto lost = table.Grant(kSecond, 1, kNoLimit);
  ASSERT_TRUE(lost);
  ASSERT_EQ(lost->end(), 48u);
  const std::vector<LeaseReport> records = {MakeReport(lost->id(), 16, 2)};
  ASSERT_TRUE(table.ReturnRest(kSecond, records).ok());
  EXPECT_FALSE(table.HasOpenLeases());
  EXPECT_EQ(table.Totals().states, (std::vector<double>{96, 48, 7}));
}

}  // namespace
}  // namespace paceline
