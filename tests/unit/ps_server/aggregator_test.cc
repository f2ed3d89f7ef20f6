#include "ps_server/aggregator.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

v1::WorkerId Worker(uint32_t rank, uint64_t incarnation) {
  v1::WorkerId worker;
  worker.set_rank(rank);
  worker.set_incarnation(incarnation);
  return worker;
}

v1::Progress Progress(uint64_t sequence) {
  v1::Progress progress;
  progress.set_sequence(sequence);
  progress.mutable_lease()->set_lease_id(3);
  progress.mutable_lease()->set_examples(64 * sequence);
  progress.mutable_lease()->mutable_sums()->add_totals(0.25);
  return progress;
}

// The only decision about a push.
Decision Push(Aggregator& aggregator, const v1::WorkerId& worker,
              uint64_t sequence) {
  const auto decisions = aggregator.HandlePush(9, worker, Progress(sequence));
  EXPECT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions.front().ticket, 9u);
  return decisions.front();
}

TEST(AggregatorTest, AppliesEachPushOnce) {
  Aggregator aggregator;
  const v1::WorkerId worker = Worker(0, 7);
  Decision decision = Push(aggregator, worker, 1);
  EXPECT_EQ(decision.verdict, Verdict::kApply);
  EXPECT_EQ(decision.iterations, 0);
  EXPECT_EQ(Push(aggregator, worker, 2).iterations, 1);
  for (uint64_t repeat : {1, 2}) {
    decision = Push(aggregator, worker, repeat);
    EXPECT_EQ(decision.verdict, Verdict::kDuplicate);
    EXPECT_EQ(decision.iterations, 2);
  }
  EXPECT_EQ(aggregator.step(), 2);
}

TEST(AggregatorTest, CountsWorkersAndIncarnationsApart) {
  Aggregator aggregator;
  EXPECT_EQ(Push(aggregator, Worker(0, 7), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(1, 7), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(0, 8), 1).verdict, Verdict::kApply);
  EXPECT_EQ(Push(aggregator, Worker(0, 8), 1).verdict, Verdict::kDuplicate);
  EXPECT_EQ(aggregator.step(), 3);
}

TEST(AggregatorTest, RefusesFencedWorkersAndSaysHowFarTheyWere) {
  Aggregator aggregator;
  const v1::WorkerId worker = Worker(4, 0xf3a1);
  Push(aggregator, worker, 1);
  Push(aggregator, worker, 2);
  EXPECT_EQ(aggregator.Fence(worker).response.progress().sequence(), 2u);
  EXPECT_EQ(aggregator.Fence(worker).response.progress().lease().examples(),
            128u);

  for (uint64_t sequence : {2, 3}) {
    const Decision decision = Push(aggregator, worker, sequence);
    EXPECT_EQ(decision.verdict, Verdict::kRefuse);
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(decision.error.message()),
                HasSubstr("worker-4 with incarnation f3a1 is fenced"));
  }
  EXPECT_EQ(aggregator.step(), 2);
  // Its successor is another worker.
  EXPECT_EQ(Push(aggregator, Worker(4, 1), 1).verdict, Verdict::kApply);
}

TEST(AggregatorTest, FencesAWorkerThatNeverPushed) {
  Aggregator aggregator;
  EXPECT_FALSE(aggregator.Fence(Worker(0, 7)).response.has_progress());
  EXPECT_EQ(Push(aggregator, Worker(0, 7), 1).verdict, Verdict::kRefuse);
}

TEST(AggregatorTest, RefusesPushesWithoutIdentity) {
  Aggregator aggregator;
  for (const Decision& decision :
       {Push(aggregator, Worker(0, 0), 1), Push(aggregator, Worker(0, 7), 0)}) {
    EXPECT_EQ(decision.verdict, Verdict::kRefuse);
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(aggregator.step(), 0);
}

TEST(AggregatorTest, RemembersWhatItSaved) {
  Aggregator before;
  Push(before, Worker(0, 7), 1);
  Push(before, Worker(1, 0xfedcba9876543210), 5);
  before.Fence(Worker(0, 7));
  before.Fence(Worker(2, 9));
  std::map<std::string, std::string> saved = before.Save();
  EXPECT_EQ(saved.count("worker/1/fedcba9876543210"), 1u);
  EXPECT_EQ(saved.count("fenced/0/7"), 1u);
  saved["format"] = "paceline";

  auto after = Aggregator::Restore(before.step(), saved);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->step(), 2);
  const v1::WorkerId worker = Worker(1, 0xfedcba9876543210);
  EXPECT_EQ(Push(*after, worker, 5).verdict, Verdict::kDuplicate);
  EXPECT_EQ(Push(*after, worker, 6).verdict, Verdict::kApply);
  EXPECT_EQ(Push(*after, Worker(0, 7), 2).verdict, Verdict::kRefuse);
  EXPECT_EQ(Push(*after, Worker(2, 9), 1).verdict, Verdict::kRefuse);
  const v1::Progress progress = after->Fence(Worker(0, 7)).response.progress();
  EXPECT_EQ(progress.SerializeAsString(), Progress(1).SerializeAsString());
}

TEST(AggregatorTest, DamagedRecordsAreDataLoss) {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"worker/0", "{}"},
                                          {"worker/x/7", "{}"},
                                          {"worker/0/7g", "{}"},
                                          {"worker/0/7", "{"},
                                          {"fenced/-1/7", ""}}) {
    const absl::Status status = Aggregator::Restore(0, {{key, value}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << key;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
  }
}

}  // namespace
}  // namespace paceline
