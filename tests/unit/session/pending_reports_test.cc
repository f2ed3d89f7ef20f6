#include "common/session/member/pending_reports.h"

#include <cstdint>
#include <vector>

#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

v1::LeaseReport Lease(uint64_t id, int states = 2) {
  v1::LeaseReport report;
  report.set_lease_id(id);
  report.mutable_sums()->mutable_states()->Resize(states, 1);
  return report;
}

std::vector<uint64_t> Leases(const v1::HeartbeatRequest& heartbeat) {
  std::vector<uint64_t> ids;
  for (const v1::LeaseReport& report : heartbeat.reports()) {
    ids.push_back(report.lease_id());
  }
  return ids;
}

TEST(PendingReportsTest, CompleteLeasesAreKeptUntilTheyArrive) {
  PendingReports pending;
  EXPECT_FALSE(pending.AddLease(Lease(5), /*complete=*/false));
  EXPECT_TRUE(pending.AddLease(Lease(4), /*complete=*/true));
  v1::HeartbeatRequest lost;
  EXPECT_FALSE(pending.MoveInto(lost));
  EXPECT_THAT(Leases(lost), ElementsAre(4, 5));
  EXPECT_EQ(pending.size(), 0u);
  pending.TakeBack(lost);
  EXPECT_EQ(pending.size(), 1u);

  v1::HeartbeatRequest again;
  EXPECT_FALSE(pending.MoveInto(again));
  EXPECT_THAT(Leases(again), ElementsAre(4, 5));
  // What is reported meanwhile is not what arrived.
  EXPECT_TRUE(pending.AddLease(Lease(5), /*complete=*/true));
  pending.Arrived();
  EXPECT_EQ(pending.size(), 1u);

  v1::HeartbeatRequest last;
  EXPECT_FALSE(pending.MoveInto(last));
  EXPECT_THAT(Leases(last), ElementsAre(5));
  pending.Arrived();
  v1::HeartbeatRequest empty;
  EXPECT_FALSE(pending.MoveInto(empty));
  EXPECT_EQ(empty.reports_size(), 0);
}

TEST(PendingReportsTest, TheFirstLossThatIsNotFiniteIsNews) {
  PendingReports pending;
  v1::LeaseReport report = Lease(1);
  EXPECT_FALSE(pending.AddLease(report, /*complete=*/false));
  report.set_first_nonfinite_step(3);
  EXPECT_TRUE(pending.AddLease(report, /*complete=*/false));
  EXPECT_FALSE(pending.AddLease(report, /*complete=*/false));
}

// While the leader is silent, a worker goes on to complete leases, whose states
// may be large.
TEST(PendingReportsTest, HeartbeatsStayBelowTheLimitOfAMessage) {
  PendingReports pending;
  const int largest = static_cast<int>(limits::kMaxMetricState);
  constexpr size_t kLeases = 20;
  for (uint64_t id = 1; id <= kLeases; ++id) {
    pending.AddLease(Lease(id, largest), /*complete=*/true);
  }
  for (int i = 0; i < limits::kMaxStepReports; ++i) {
    v1::StepReport step;
    step.set_step(static_cast<uint64_t>(limits::kMaxSteps));
    step.set_total(0.1);
    step.set_weight(0.1);
    pending.AddStep(step);
  }
  bool is_full = true;
  uint64_t next = 1;
  while (is_full) {
    v1::HeartbeatRequest heartbeat;
    is_full = pending.MoveInto(heartbeat);
    EXPECT_LT(heartbeat.ByteSizeLong(), limits::kMaxControlBytes);
    ASSERT_GT(heartbeat.reports_size(), 0);
    for (const uint64_t id : Leases(heartbeat)) EXPECT_EQ(id, next++);
    pending.Arrived();
  }
  EXPECT_EQ(next, kLeases + 1);
  EXPECT_EQ(pending.size(), 0u);
}

TEST(PendingReportsTest, HeartbeatsHaveAtMostSoManyLeasesAndSteps) {
  PendingReports pending;
  for (int i = 0; i < limits::kMaxLeaseReports + 1; ++i) {
    pending.AddLease(Lease(1 + static_cast<uint64_t>(i)), /*complete=*/true);
  }
  for (int i = 0; i < limits::kMaxStepReports + 2; ++i) {
    v1::StepReport step;
    step.set_step(1 + static_cast<uint64_t>(i));
    pending.AddStep(step);
  }
  v1::HeartbeatRequest first;
  EXPECT_TRUE(pending.MoveInto(first));
  EXPECT_EQ(first.reports_size(), limits::kMaxLeaseReports);
  EXPECT_EQ(first.steps_size(), limits::kMaxStepReports);
  pending.Arrived();
  v1::HeartbeatRequest rest;
  EXPECT_FALSE(pending.MoveInto(rest));
  EXPECT_EQ(rest.reports_size(), 1);
  ASSERT_EQ(rest.steps_size(), 2);
  EXPECT_EQ(rest.steps(0).step(),
            static_cast<uint64_t>(limits::kMaxStepReports) + 1);
}

TEST(PendingReportsTest, OpenLeasesWithoutRoomAreNotUrgent) {
  PendingReports pending;
  for (int i = 0; i < limits::kMaxLeaseReports + 1; ++i) {
    pending.AddLease(Lease(1 + static_cast<uint64_t>(i)), /*complete=*/false);
  }
  v1::HeartbeatRequest heartbeat;
  EXPECT_FALSE(pending.MoveInto(heartbeat));
  EXPECT_EQ(heartbeat.reports_size(), limits::kMaxLeaseReports);
}

TEST(PendingReportsTest, StepsStayInOrder) {
  PendingReports pending;
  for (uint64_t each = 1; each <= 2; ++each) {
    v1::StepReport step;
    step.set_step(each);
    pending.AddStep(step);
  }
  v1::HeartbeatRequest lost;
  EXPECT_FALSE(pending.MoveInto(lost));
  v1::StepReport third;
  third.set_step(3);
  pending.AddStep(third);
  pending.TakeBack(lost);
  v1::HeartbeatRequest heartbeat;
  EXPECT_FALSE(pending.MoveInto(heartbeat));
  std::vector<uint64_t> steps;
  for (const v1::StepReport& step : heartbeat.steps()) {
    steps.push_back(step.step());
  }
  EXPECT_THAT(steps, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace paceline
