#include "common/session/member/leader_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace paceline {
namespace {

using ::testing::HasSubstr;

TEST(LeaderAnswersTest, RegistrationsThatCannotBeAreRefused) {
  v1::RegisterResponse sound;
  sound.set_world_size(2);
  sound.set_rank(1);
  sound.mutable_job()->set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  sound.mutable_heartbeat_interval()->set_nanos(250'000'000);
  sound.mutable_heartbeat_timeout()->set_seconds(8);
  sound.mutable_ps_timeout()->set_seconds(10);
  EXPECT_TRUE(CheckRegistration(sound).ok()) << CheckRegistration(sound);
  const std::vector<std::function<void(v1::RegisterResponse&)>> changes = {
      [](auto& r) { r.clear_heartbeat_interval(); },
      [](auto& r) { r.mutable_heartbeat_interval()->set_nanos(-5); },
      [](auto& r) { r.mutable_heartbeat_timeout()->set_seconds(INT64_MAX); },
      [](auto& r) { r.mutable_ps_timeout()->set_seconds(INT64_MIN); },
      [](auto& r) { r.set_rank(2); }, [](auto& r) { r.clear_job(); },
      [](auto& r) { r.mutable_job()->set_strategy(v1::Strategy(99)); },
      // Two workers, or two devices, that the strategy does not have.
      [](auto& r) { r.mutable_job()->set_strategy(v1::STRATEGY_MIRRORED); },
      [](auto& r) { r.mutable_job()->set_devices(2); },
      [](auto& r) { r.set_world_size(1u << 31); }};
  for (const auto& change : changes) {
    v1::RegisterResponse response = sound;
    change(response);
    const absl::Status status = CheckRegistration(response);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected"));
  }
}

TEST(LeaderAnswersTest, LeasesThatCannotBeAreRefused) {
  v1::Lease sound;
  sound.set_id(1);
  sound.set_phase(v1::PHASE_TRAIN);
  sound.set_end(10);
  EXPECT_TRUE(CheckLease(sound).ok()) << CheckLease(sound);
  const std::vector<std::function<void(v1::Lease&)>> changes = {
      [](auto& lease) { lease.set_id(0); },
      [](auto& lease) { lease.set_id(~uint64_t{0}); },
      [](auto& lease) { lease.set_phase(v1::PHASE_UNSPECIFIED); },
      [](auto& lease) { lease.set_phase(v1::Phase(9)); },
      [](auto& lease) { lease.set_begin(10); },
      [](auto& lease) { lease.set_end(uint64_t{1} << 63); },
      [](auto& lease) { lease.set_epoch(~uint32_t{0}); },
      [](auto& lease) { lease.set_learning_rate(std::nan("")); },
      [](auto& lease) { lease.set_learning_rate(-0.5); },
      [](auto& lease) { lease.set_learning_rate(HUGE_VAL); }};
  for (const auto& change : changes) {
    v1::Lease lease = sound;
    change(lease);
    const absl::Status status = CheckLease(lease);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected"));
  }
}

}  // namespace
}  // namespace paceline
