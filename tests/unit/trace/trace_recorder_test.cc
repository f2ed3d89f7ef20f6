// What a recorder keeps, and what it leaves out.
#include "worker/trace/trace_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/trace/fake_clocks.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TraceRecorderTest : public ::testing::Test {
 protected:
  FakeClocks clocks_;
  TraceRecorder recorder_{clocks_.Monotonic(), clocks_.Wall()};
};

TEST_F(TraceRecorderTest, SpansCountFromTheFirstAndHaveADate) {
  TraceLane& unused = recorder_.AddLane("unused");
  TraceLane& lane = recorder_.AddLane("replica 0");
  lane.Switch(true);
  clocks_.now += absl::Hours(100);
  {
    const ScopedSpan outer(&lane, "step", 1);
    clocks_.now += absl::Nanoseconds(5);
    {
      const ScopedSpan inner(&lane, "section", 2, 3);
      clocks_.now += absl::Nanoseconds(7);
    }
    const ScopedSpan single(&lane, "section", 1, 1);
  }
  {
    // Off, and not there at all.
    const ScopedSpan off(&unused, "off");
    const ScopedSpan none(nullptr, "none", 1, 2);
  }
  const Trace trace = recorder_.Take();
  EXPECT_THAT(SpansOf(trace),
              ElementsAre("replica 0: section 2/3 5+7",
                          "replica 0: section 12+0", "replica 0: step 1 0+12"));
  EXPECT_EQ(trace.start_ns,
            (FakeClocks::kWallSeconds + 1000 + 360'000) * 1'000'000'000);
  EXPECT_THAT(trace.lanes, ElementsAre("replica 0"));
  EXPECT_EQ(trace.dropped_spans, 0);
}

TEST_F(TraceRecorderTest, CountsTheSpansThatItHasNoRoomFor) {
  TraceLane& lane = recorder_.AddLane("lane");
  for (size_t i = 0; i < kMaxTraceSpans + 3; ++i) {
    lane.Add("span", clocks_.now, clocks_.now);
  }
  const Trace trace = recorder_.Take();
  EXPECT_THAT(trace.spans, SizeIs(kMaxTraceSpans));
  EXPECT_EQ(trace.dropped_spans, 3);
}

TEST_F(TraceRecorderTest, LeavesOutLanesAndNamesBeyondTheLimits) {
  std::vector<TraceLane*> lanes;
  for (size_t i = 0; i <= kMaxTraceLanes; ++i) {
    lanes.push_back(&recorder_.AddLane(absl::StrCat("lane ", i)));
    lanes.back()->Add("span", clocks_.now, clocks_.now);
  }
  for (size_t i = 1; i <= kMaxTraceNames; ++i) {
    lanes[0]->Add(absl::StrCat("name ", i), clocks_.now, clocks_.now);
  }
  const Trace trace = recorder_.Take();
  EXPECT_THAT(trace.lanes, SizeIs(kMaxTraceLanes));
  EXPECT_THAT(trace.names, SizeIs(kMaxTraceNames));
  EXPECT_EQ(trace.dropped_spans, 2);
}

TEST_F(TraceRecorderTest, LeavesOutWhatComesLongAfter) {
  TraceLane& lane = recorder_.AddLane("lane");
  lane.Add("first", clocks_.now, clocks_.now);
  clocks_.now += absl::Nanoseconds(kMaxTraceNanoseconds);
  lane.Add("last", clocks_.now, clocks_.now);
  lane.Add("late", clocks_.now, clocks_.now + absl::Nanoseconds(1));
  const Trace trace = recorder_.Take();
  EXPECT_THAT(trace.spans, SizeIs(2));
  EXPECT_THAT(trace.names, ElementsAre("first", "last"));
  EXPECT_EQ(trace.dropped_spans, 1);
}

TEST_F(TraceRecorderTest, ForgetsWhatComesAfterItWasTaken) {
  TraceLane& lane = recorder_.AddLane("lane");
  lane.Add("before", clocks_.now, clocks_.now);
  EXPECT_THAT(recorder_.Take().spans, SizeIs(1));
  lane.Add("after", clocks_.now, clocks_.now);
  EXPECT_THAT(recorder_.Take().spans, IsEmpty());
}

TEST(TraceRecorderThreadsTest, TakesSpansOfManyThreads) {
  TraceRecorder recorder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    TraceLane& lane = recorder.AddLane(absl::StrCat("lane ", i));
    lane.Switch(true);
    threads.emplace_back([&lane] {
      for (int span = 0; span < 1000; ++span) {
        const ScopedSpan scope(&lane, "span", span % 10);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Trace trace = recorder.Take();
  EXPECT_THAT(trace.spans, SizeIs(4000));
  EXPECT_THAT(trace.names, SizeIs(10));
}

}  // namespace
}  // namespace paceline
