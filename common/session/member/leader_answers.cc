#include "common/session/member/leader_answers.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/optimizer/learning_rate.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {
namespace {

absl::Status CheckDuration(absl::string_view field,
                           const google::protobuf::Duration& proto) {
  const absl::Duration duration = DurationFromProto(proto);
  if (duration > absl::ZeroDuration() && duration <= limits::kMaxToldDuration) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(field, ": ", absl::FormatDuration(duration),
                   "; expected more than 0 and ", "at most ",
                   absl::FormatDuration(limits::kMaxToldDuration)));
}

}  // namespace

absl::Duration DurationFromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) +
         absl::Nanoseconds(duration.nanos());
}

absl::Status CheckRegistration(const v1::RegisterResponse& response) {
  RETURN_IF_ERROR(
      CheckDuration("heartbeat_interval", response.heartbeat_interval()));
  RETURN_IF_ERROR(
      CheckDuration("heartbeat_timeout", response.heartbeat_timeout()));
  RETURN_IF_ERROR(CheckDuration("ps_timeout", response.ps_timeout()));
  if (response.world_size() > uint32_t{limits::kMaxTasks} ||
      response.rank() >= response.world_size()) {
    return absl::InternalError(absl::StrCat(
        "rank: ", response.rank(), " of world_size ", response.world_size(),
        "; expected a rank below a world_size of at most ", limits::kMaxTasks));
  }
  const v1::Job& job = response.job();
  const StrategyTraits* const strategy = FindStrategy(job.strategy());
  if (strategy == nullptr) {
    return absl::InternalError(absl::StrCat(
        "job.strategy: ", static_cast<int>(job.strategy()),
        "; expected the number of one of ", Codec<v1::Strategy>::Type()));
  }
  if (job.devices() > 1 && !strategy->has_several_devices) {
    return absl::InternalError(absl::StrCat("job.devices: ", job.devices(),
                                            "; expected 1 under strategy ",
                                            strategy->name));
  }
  if (response.world_size() > 1 && !strategy->has_several_workers) {
    return absl::InternalError(
        absl::StrCat("world_size: ", response.world_size(),
                     "; expected 1 under strategy ", strategy->name));
  }
  return absl::OkStatus();
}

absl::Status CheckLease(const v1::Lease& lease) {
  constexpr uint64_t kMaxId = limits::kMaxSteps;
  constexpr uint64_t kMaxEnd = limits::kMaxExamples;
  if (lease.id() == 0 || lease.id() > kMaxId) {
    return absl::InternalError(absl::StrCat(
        "lease.id: ", lease.id(), "; expected a number from 1 to ", kMaxId));
  }
  if (lease.phase() != v1::PHASE_TRAIN &&
      lease.phase() != v1::PHASE_VALIDATION &&
      lease.phase() != v1::PHASE_TEST) {
    return absl::InternalError(
        absl::StrCat("lease.phase: ", static_cast<int>(lease.phase()),
                     "; expected training, validation or test"));
  }
  if (lease.begin() >= lease.end() || lease.end() > kMaxEnd) {
    return absl::InternalError(absl::StrCat(
        "lease.begin: ", lease.begin(), ", lease.end: ", lease.end(),
        "; expected a range up to ", kMaxEnd));
  }
  if (lease.epoch() > uint32_t{INT32_MAX}) {
    return absl::InternalError(absl::StrCat("lease.epoch: ", lease.epoch(),
                                            "; expected at most ", INT32_MAX));
  }
  if (!IsLearningRate(lease.learning_rate())) {
    return absl::InternalError(
        absl::StrCat("lease.learning_rate: ", lease.learning_rate(),
                     "; expected ", kLearningRates));
  }
  return absl::OkStatus();
}

}  // namespace paceline
