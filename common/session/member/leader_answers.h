// Checks of the leader's answers on the member's side, before they are used.
#ifndef PACELINE_COMMON_SESSION_MEMBER_LEADER_ANSWERS_H_
#define PACELINE_COMMON_SESSION_MEMBER_LEADER_ANSWERS_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

absl::Duration DurationFromProto(const google::protobuf::Duration& duration);

// Internal, with the field's name, its value and what is expected, unless: the
// durations are positive and at most limits::kMaxToldDuration, the rank is
// below the world size, the world size is at most limits::kMaxTasks, and the
// job has a strategy that allows as many workers and devices.
absl::Status CheckRegistration(const v1::RegisterResponse& response);

// Internal as above, unless the lease has an id, a phase, a valid range of
// positions in an epoch, and a valid learning rate, if any.
absl::Status CheckLease(const v1::Lease& lease);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MEMBER_LEADER_ANSWERS_H_
