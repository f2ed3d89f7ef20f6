#include "common/base/ticker.h"

#include <atomic>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(TickerTest, TicksUntilItGoes) {
  std::atomic<int> ticks = 0;
  {
    const Ticker ticker(absl::Milliseconds(1), [&] { ++ticks; });
    while (ticks < 3) absl::SleepFor(absl::Milliseconds(1));
  }
  const int at_end = ticks;
  absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(ticks, at_end);
}

TEST(TickerTest, ItsEndDoesNotWaitForTheNextTick) {
  const absl::Time start = MonotonicNow();
  {
    const Ticker ticker(absl::Hours(1), [] { FAIL(); });
  }
  EXPECT_LT(MonotonicNow() - start, absl::Minutes(1));
}

}  // namespace
}  // namespace paceline
