// In which steps a replica records, and when its part is over.
#include "worker/trace/replica_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/fake_clocks.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReplicaTraceTest : public ::testing::Test {
 protected:
  // A step that takes 10 ns after a wait of 1 ns.
  void Step(int64_t step) {
    Wait();
    trace_.BeginStep(step);
    {
      const ScopedSpan span(&other_, "other");
      clocks_.now += absl::Nanoseconds(10);
    }
    trace_.EndStep();
  }
  void Wait() {
    trace_.Waits();
    clocks_.now += absl::Nanoseconds(1);
    trace_.Waits();
  }

  FakeClocks clocks_;
  TraceRecorder recorder_{clocks_.Monotonic(), clocks_.Wall()};
  int done_ = 0;
  ReplicaTrace trace_{recorder_, "replica 1", {3, 4}, [this] { ++done_; }};
  TraceLane& other_ = trace_.AddLane("other lane");
};

TEST_F(ReplicaTraceTest, RecordsItsStepsAlone) {
  for (const int64_t step : {1, 2, 3, 4}) Step(step);
  EXPECT_EQ(done_, 0);
  Step(5);
  EXPECT_EQ(done_, 1);
  Step(6);
  trace_.End();
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(
      SpansOf(recorder_.Take()),
      ElementsAre("replica 1: wait for data 0+1", "other lane: other 1+10",
                  "replica 1: step 3 0+11", "replica 1: wait for data 11+1",
                  "other lane: other 12+10", "replica 1: step 4 11+11"));
}

// As workers with leases of their own have them.
TEST_F(ReplicaTraceTest, OthersMayTakeSteps) {
  Step(2);
  Step(4);
  Step(9);
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(SpansOf(recorder_.Take()),
              ElementsAre("replica 1: wait for data 0+1",
                          "other lane: other 1+10", "replica 1: step 4 0+11"));
}

TEST_F(ReplicaTraceTest, ValidationIsNoStep) {
  Step(3);
  Wait();
  trace_.BeginOther();
  const ScopedSpan span(&other_, "validation");
  clocks_.now += absl::Nanoseconds(100);
  EXPECT_EQ(done_, 0);
  Step(4);
  Wait();
  trace_.BeginOther();
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(
      SpansOf(recorder_.Take()),
      ElementsAre("replica 1: wait for data 0+1", "other lane: other 1+10",
                  "replica 1: step 3 0+11", "replica 1: wait for data 112+1",
                  "other lane: other 113+10", "replica 1: step 4 112+11"));
}

TEST_F(ReplicaTraceTest, TrainingMayEndBefore) {
  Step(1);
  EXPECT_EQ(done_, 0);
  trace_.End();
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(SpansOf(recorder_.Take()), IsEmpty());
}

TEST(NoReplicaTraceTest, HasNoLanes) {
  EXPECT_EQ(LaneOf(nullptr), nullptr);
  EXPECT_EQ(NewLane(nullptr, "lane"), nullptr);
}

}  // namespace
}  // namespace paceline
