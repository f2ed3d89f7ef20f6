#include "common/rpc/repeated_calls.h"

#include <atomic>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/rpc/call_group.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Lt;

const absl::Status kBroken = absl::UnavailableError("the connection broke");

class RepeatedCallsTest : public ::testing::Test {
 protected:
  // Starts a call whose attempts end as `attempt` does.
  void Start(RepeatLimits limits, RepeatedCalls::Attempt attempt) {
    calls_.Start(
        limits,
        [this, attempt = std::move(attempt)](absl::Duration timeout,
                                             CallDone done) {
          ++attempts_;
          attempt(timeout, std::move(done));
        },
        group_.Open(0));
  }
  absl::Status Wait() {
    group_.Wait();
    return group_.status(0);
  }

  // Before what its calls use.
  CallGroup group_{1};
  std::atomic<int> attempts_ = 0;
  RepeatedCalls calls_;
};

TEST_F(RepeatedCallsTest, RepeatsUntilAnAttemptEndsOtherwise) {
  Start({absl::Seconds(30)}, [this](absl::Duration, CallDone done) {
    done(attempts_ < 3 ? kBroken : absl::OkStatus());
  });
  EXPECT_TRUE(Wait().ok());
  EXPECT_EQ(attempts_, 3);
}

TEST_F(RepeatedCallsTest, EachAttemptHasTheTimeThatIsLeft) {
  absl::Duration last = absl::Hours(1);
  Start({absl::Seconds(1)}, [&last](absl::Duration timeout, CallDone done) {
    EXPECT_LT(timeout, last);
    last = timeout;
    done(kBroken);
  });
  EXPECT_EQ(Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(attempts_.load(), AllOf(Ge(2), Lt(20)));
}

TEST_F(RepeatedCallsTest, GivesUpACalleeThatIsUnavailableForTooLong) {
  const absl::Time start = MonotonicNow();
  Start({absl::Hours(1), absl::Seconds(1)},
        [](absl::Duration, CallDone done) { done(kBroken); });
  EXPECT_EQ(Wait().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MonotonicNow() - start,
              AllOf(Ge(absl::Seconds(1)), Lt(absl::Seconds(20))));
}

// The second attempt is open for longer than the callee may be unavailable.
TEST_F(RepeatedCallsTest, AConnectionShowsThatTheCalleeIsAvailable) {
  std::thread held;
  Start({absl::Hours(1), absl::Seconds(1)}, [&](absl::Duration, CallDone done) {
    if (attempts_ == 2) {
      held = std::thread([done = std::move(done)] {
        absl::SleepFor(absl::Milliseconds(2500));
        done(kBroken);
      });
    } else {
      done(attempts_ == 4 ? absl::OkStatus() : kBroken);
    }
  });
  EXPECT_TRUE(Wait().ok());
  held.join();
  EXPECT_EQ(attempts_, 4);
}

TEST_F(RepeatedCallsTest, CancelEndsACallThatWaitsForItsNextAttempt) {
  Start({absl::Hours(1)}, [](absl::Duration, CallDone done) { done(kBroken); });
  calls_.Cancel();
  EXPECT_EQ(Wait().code(), absl::StatusCode::kCancelled);
  const int attempts = attempts_;
  Start({absl::Hours(1)}, [](absl::Duration, CallDone done) { done(kBroken); });
  EXPECT_EQ(Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(attempts_, attempts + 1);
}

}  // namespace
}  // namespace paceline
