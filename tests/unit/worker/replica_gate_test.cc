#include "worker/lifecycle/replica_gate.h"

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

TEST(ReplicaGateTest, AwaitsEachReplica) {
  ReplicaGate gate(2);
  gate.Arrive();
  std::atomic<bool> has_arrived = false;
  std::thread other([&] {
    absl::SleepFor(absl::Milliseconds(50));
    has_arrived = true;
    gate.Arrive();
  });
  EXPECT_EQ(gate.Await(absl::Minutes(1)), absl::OkStatus());
  EXPECT_TRUE(has_arrived);
  other.join();
  EXPECT_EQ(gate.Await(absl::ZeroDuration()), absl::OkStatus());
}

TEST(ReplicaGateTest, AReplicaThatFailsEndsTheWait) {
  ReplicaGate gate(2);
  gate.Arrive();
  std::thread other([&] {
    absl::SleepFor(absl::Milliseconds(50));
    gate.Abandon(absl::DataLossError("bent"));
  });
  EXPECT_EQ(gate.Await(absl::Minutes(1)), absl::DataLossError("bent"));
  other.join();
  gate.Abandon(absl::InternalError("a consequence"));
  EXPECT_EQ(gate.Await(absl::Minutes(1)), absl::DataLossError("bent"));
}

TEST(ReplicaGateTest, TheWaitHasADeadline) {
  ReplicaGate gate(3);
  gate.Arrive();
  const absl::Status status = gate.Await(absl::Milliseconds(20));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("2 replicas of this worker did not "
                                          "get their first variables within "
                                          "20ms"));
}

}  // namespace
}  // namespace paceline
