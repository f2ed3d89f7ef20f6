// What the leader tells a member, checked as it reaches the member.
#ifndef PACELINE_COMMON_SESSION_LEADER_ANSWERS_H_
#define PACELINE_COMMON_SESSION_LEADER_ANSWERS_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

absl::Duration DurationFromProto(const google::protobuf::Duration& duration);

// Internal, with the name of the field, its value and what is expected, unless
// durations are positive and at most limits::kMaxToldDuration, the rank is one
// of the world's, the world has at most limits::kMaxTasks, and the job has a
// strategy under which it may have so many workers and devices.
absl::Status CheckRegistration(const v1::RegisterResponse& response);

// Internal as above, unless the lease has an id, a phase, and positions of an
// epoch that can be.
absl::Status CheckLease(const v1::Lease& lease);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_ANSWERS_H_
