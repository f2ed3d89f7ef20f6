// Reads what members say about themselves. Everything is checked here, before
// it enters the session.
#ifndef PACELINE_COMMON_SESSION_MACHINE_MEMBER_REQUESTS_H_
#define PACELINE_COMMON_SESSION_MACHINE_MEMBER_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster/cluster_spec.h"
#include "common/cluster/task.h"
#include "common/session/machine/lease_report.h"
#include "common/session/machine/step_row.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// All errors are InvalidArgument and name the field, its value and what is
// expected.

// A process that registers.
struct IntroducedMember {
  TaskId task;
  // Never 0.
  uint64_t incarnation = 0;
  // "host:port", or "" while it is not known.
  std::string address;
};
absl::StatusOr<IntroducedMember> ReadMember(const v1::Member& member);

// The cluster that a member was given. Each task is listed once, with an
// address.
absl::StatusOr<ClusterSpec> ReadCluster(
    const google::protobuf::RepeatedPtrField<v1::Member>& cluster);

// Examples in each data set, as the workers count them; from 0 to
// limits::kMaxExamples.
struct DataSizes {
  int64_t train = 0;
  int64_t validation = 0;
  int64_t test = 0;

  bool operator==(const DataSizes&) const = default;
};

// What a worker reports before it waits for the start.
struct Preparation {
  DataSizes sizes;
  // The fields of AwaitStartRequest, checked to be of bounded size.
  std::string gpu_uuid;
  std::string nccl_id;
};
absl::StatusOr<Preparation> ReadPreparation(
    const v1::AwaitStartRequest& request);

// The part of a heartbeat that is about the work.
struct WorkReport {
  std::vector<LeaseReport> leases;
  std::vector<StepRow> steps;
};
// `metrics`: as for ReadLeaseReport.
absl::StatusOr<WorkReport> ReadWorkReport(
    const v1::HeartbeatRequest& request,
    absl::Span<const LoggedMetric> metrics);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_MEMBER_REQUESTS_H_
