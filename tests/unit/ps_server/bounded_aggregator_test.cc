// Pushes under bounded staleness.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps_server/aggregator.h"
#include "tests/unit/ps_server/aggregator_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BoundedAggregatorTest : public ::testing::Test {
 protected:
  static AggregatorOptions Options() {
    AggregatorOptions options;
    options.consistency = v1::CONSISTENCY_BOUNDED;
    options.workers = 5;
    options.max_staleness = 2;
    return options;
  }
  // The next step of a worker; its ticket is 10 · rank + the step's number.
  std::vector<std::string> Push(uint32_t rank, bool pauses = false) {
    v1::WorkerClock clock;
    clock.set_steps(++clocks_[rank]);
    clock.set_pauses(pauses);
    const uint64_t sequence = ++sequences_[rank];
    return Words(aggregator_.HandlePush(10 * rank + sequence,
                                        Worker(rank, 7 + rank),
                                        Progress(sequence), clock));
  }
  void Join(uint32_t rank) {
    const auto clock =
        aggregator_.Join(Worker(rank, 7 + rank), sequences_[rank]);
    ASSERT_TRUE(clock.ok()) << clock.status();
    clocks_[rank] = *clock;
  }

  Aggregator aggregator_ =
      MakeAggregator({Worker(1, 8), Worker(2, 9), Worker(3, 10)}, Options());
  std::map<uint32_t, uint64_t> clocks_;
  std::map<uint32_t, uint64_t> sequences_;
};

TEST_F(BoundedAggregatorTest, TheFastestWaitsForTheSlowest) {
  Join(1);
  Join(2);
  EXPECT_THAT(Push(1), ElementsAre("apply 11", "answer 11"));
  EXPECT_THAT(Push(1), ElementsAre("apply 12", "answer 12"));
  // Its gradients count at once; its next step waits.
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  EXPECT_EQ(aggregator_.step(), 3);
  EXPECT_THAT(Push(2), ElementsAre("apply 21", "answer 13", "answer 21"));
  EXPECT_THAT(Push(1), ElementsAre("apply 14"));
}

TEST_F(BoundedAggregatorTest, NobodyWaitsForOneThatPauses) {
  Join(1);
  Join(2);
  Push(1);
  Push(1);
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  EXPECT_THAT(Push(2, /*pauses=*/true),
              ElementsAre("apply 21", "answer 13", "answer 21"));
  for (int step = 0; step < 9; ++step) EXPECT_EQ(Push(1).size(), 2u);
  // It goes on where the slowest of the others is.
  Join(2);
  EXPECT_EQ(clocks_[2], 12u);
  EXPECT_EQ(Push(2).size(), 2u);
}

// Else one that often ends a lease would run away.
TEST_F(BoundedAggregatorTest, OneThatPausesWaitsToo) {
  Join(1);
  Join(2);
  Push(1);
  Push(1);
  EXPECT_THAT(Push(1, /*pauses=*/true), ElementsAre("apply 13"));
  EXPECT_THAT(Push(2), ElementsAre("apply 21", "answer 13", "answer 21"));
}

TEST_F(BoundedAggregatorTest, NobodyWaitsForOneThatIsFenced) {
  Join(1);
  Join(2);
  Join(3);
  Push(1);
  Push(1);
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  EXPECT_THAT(Words(aggregator_.Fence(Worker(2, 9)).decisions), IsEmpty());
  EXPECT_THAT(Words(aggregator_.Fence(Worker(3, 10)).decisions),
              ElementsAre("answer 13"));
  EXPECT_EQ(aggregator_.Join(Worker(3, 10), 0).status().code(),
            absl::StatusCode::kAborted);
}

TEST_F(BoundedAggregatorTest, ClocksOnlyGoForward) {
  Join(1);
  Push(1);
  EXPECT_THAT(Words(aggregator_.HandlePush(9, Worker(1, 8), Progress(2))),
              ElementsAre("refuse 9"));
  // Nor ahead of what the workers can have done.
  v1::WorkerClock clock;
  clock.set_steps(UINT64_MAX);
  EXPECT_THAT(
      Words(aggregator_.HandlePush(9, Worker(1, 8), Progress(2), clock)),
      ElementsAre("refuse 9"));
  EXPECT_EQ(aggregator_.Join(Worker(1, 0), 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(aggregator_.Join(Worker(1, 77), 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Aggregator().Join(Worker(1, 8), 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(BoundedAggregatorTest, WhatComesLateChangesNothing) {
  Join(1);
  Join(2);
  Push(1);
  Push(2);
  Push(2, /*pauses=*/true);
  // Of before its pushes.
  ASSERT_TRUE(aggregator_.Join(Worker(2, 9), 0).ok());
  for (int step = 0; step < 5; ++step) EXPECT_EQ(Push(1).size(), 2u);
  Join(2);
  for (int step = 0; step < 2; ++step) EXPECT_EQ(Push(1).size(), 2u);
  EXPECT_THAT(Push(1), ElementsAre("apply 19"));
  EXPECT_THAT(Words(aggregator_.HandlePush(99, Worker(1, 8), Progress(4))),
              ElementsAre("answer 99"));
  EXPECT_THAT(Push(2), ElementsAre("apply 23", "answer 19", "answer 23"));
}

TEST_F(BoundedAggregatorTest, ARepeatOfWhatIsHeldIsHeldAndNotAppliedAgain) {
  Join(1);
  Join(2);
  Push(1);
  Push(1);
  Push(1);
  v1::WorkerClock clock;
  clock.set_steps(3);
  EXPECT_THAT(
      Words(aggregator_.HandlePush(99, Worker(1, 8), Progress(3), clock)),
      ElementsAre("refuse 13"));
  EXPECT_EQ(aggregator_.step(), 3);
  EXPECT_THAT(Push(2), ElementsAre("apply 21", "answer 99", "answer 21"));
}

// A join counts at once, and for as long as a step may take.
TEST_F(BoundedAggregatorTest, NobodyWaitsLongForOneThatOnlyJoins) {
  const absl::Time start = absl::FromUnixSeconds(1000);
  const absl::Duration patience = Options().patience;
  Join(1);
  Join(2);
  Join(3);
  aggregator_.HandleTime(start);
  Push(1);
  Push(1);
  Push(2);
  Push(2);
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  EXPECT_THAT(Push(2), ElementsAre("apply 23"));
  Aggregator::Lapsed lapsed =
      aggregator_.HandleTime(start + patience - absl::Seconds(1));
  EXPECT_THAT(lapsed.workers, IsEmpty());
  EXPECT_THAT(lapsed.decisions, IsEmpty());
  // Not those that wait themselves.
  lapsed = aggregator_.HandleTime(start + patience);
  EXPECT_THAT(lapsed.workers, ElementsAre(3u));
  EXPECT_THAT(Words(lapsed.decisions), ElementsAre("answer 13", "answer 23"));

  // Joining again gains nothing; a step does.
  Join(3);
  EXPECT_EQ(clocks_[3], 3u);
  Push(1);
  Push(2);
  EXPECT_EQ(Push(1).size(), 2u);
  EXPECT_EQ(Push(2).size(), 2u);
  EXPECT_EQ(Push(1).size(), 2u) << "at 6";
  EXPECT_EQ(Push(3).size(), 2u) << "at 4";
  EXPECT_EQ(Push(1).size(), 1u) << "at 7";
  EXPECT_EQ(Push(3).size(), 3u) << "at 5";
}

// One that pushes goes on being waited for, however long it trains; and so is
// one whose own answer was long in coming.
TEST_F(BoundedAggregatorTest, PatienceBeginsWithEachAnswer) {
  absl::Time now = absl::FromUnixSeconds(1000);
  const absl::Duration half = Options().patience / 2 + absl::Seconds(1);
  Join(1);
  Join(2);
  for (int step = 0; step < 2; ++step) Push(1);
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  for (int step = 0; step < 4; ++step) {
    EXPECT_THAT(aggregator_.HandleTime(now).workers, IsEmpty());
    now += half;
    EXPECT_THAT(aggregator_.HandleTime(now).workers, IsEmpty());
    EXPECT_EQ(Push(2).size(), 3u) << "answers 1";
    EXPECT_EQ(Push(1).size(), 1u);
  }
  EXPECT_THAT(aggregator_.HandleTime(now).workers, IsEmpty());
}

// Each push is answered once: a second answer would end the server.
TEST_F(BoundedAggregatorTest, ARefusedPushLeavesWhatIsHeld) {
  Join(1);
  Join(2);
  Push(1);
  Push(1);
  EXPECT_THAT(Push(1), ElementsAre("apply 13"));
  v1::WorkerClock wrong;
  wrong.set_steps(3);
  EXPECT_THAT(
      Words(aggregator_.HandlePush(99, Worker(1, 8), Progress(4), wrong)),
      ElementsAre("refuse 99"));
  EXPECT_THAT(Push(2), ElementsAre("apply 21", "answer 13", "answer 21"));
}

}  // namespace
}  // namespace paceline
