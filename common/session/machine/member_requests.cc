#include "common/session/machine/member_requests.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/peer_count.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/cluster/task_proto.h"
#include "common/limits.h"

namespace paceline {
namespace {

absl::Status CheckAddress(absl::string_view text) {
  const absl::StatusOr<Address> address = ParseAddress(text);
  if (address.ok() && address->has_port) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("address: ", PeerText(text), "; expected \"host:port\"",
                   address.ok() ? "" : ": ", address.status().message()));
}

absl::Status CheckLength(absl::string_view field, size_t size, size_t most,
                         absl::string_view what) {
  if (size <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", size, " ", what, "; expected at most ", most));
}

absl::StatusOr<StepRow> ReadStep(const v1::StepReport& report) {
  StepRow row;
  ASSIGN_OR_RETURN(row.step,
                   ReadCount("steps.step", report.step(), limits::kMaxSteps));
  row.total = report.total();
  row.weight = report.weight();
  if (row.step == 0 || !std::isfinite(row.weight) || row.weight < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("steps: step ", row.step, " with weight ", row.weight,
                     "; expected a step from 1 and a weight from 0"));
  }
  return row;
}

}  // namespace

absl::StatusOr<IntroducedMember> ReadMember(const v1::Member& member) {
  IntroducedMember caller;
  ASSIGN_OR_RETURN(caller.task, TaskFromProto(member.task()));
  caller.incarnation = member.incarnation();
  if (caller.incarnation == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        caller.task.ToString(),
        ": incarnation: 0; expected the random number of its process"));
  }
  if (!member.address().empty()) {
    const absl::Status checked = CheckAddress(member.address());
    if (!checked.ok()) return Annotate(checked, caller.task.ToString());
  }
  caller.address = member.address();
  return caller;
}

absl::StatusOr<ClusterSpec> ReadCluster(
    const google::protobuf::RepeatedPtrField<v1::Member>& cluster) {
  // The list has chief, worker and ps tasks; evaluators are not listed.
  RETURN_IF_ERROR(CheckLength("cluster", static_cast<size_t>(cluster.size()),
                              3 * size_t{limits::kMaxTasks}, "tasks"));
  ClusterSpec spec;
  for (const v1::Member& member : cluster) {
    ASSIGN_OR_RETURN(const TaskId task, TaskFromProto(member.task()));
    const absl::Status checked = CheckAddress(member.address());
    if (!checked.ok()) {
      return Annotate(checked, absl::StrCat("cluster: ", task.ToString()));
    }
    if (!spec.tasks[task.type].emplace(task.index, member.address()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cluster: ", task.ToString(), " twice; expected each task once"));
    }
  }
  return spec;
}

absl::StatusOr<Preparation> ReadPreparation(
    const v1::AwaitStartRequest& request) {
  Preparation read;
  ASSIGN_OR_RETURN(read.sizes.train,
                   ReadCount("train_examples", request.train_examples(),
                             limits::kMaxExamples));
  ASSIGN_OR_RETURN(
      read.sizes.validation,
      ReadCount("validation_examples", request.validation_examples(),
                limits::kMaxExamples));
  ASSIGN_OR_RETURN(read.sizes.test,
                   ReadCount("test_examples", request.test_examples(),
                             limits::kMaxExamples));
  RETURN_IF_ERROR(CheckLength("gpu_uuid", request.gpu_uuid().size(),
                              limits::kMaxGpuUuidBytes, "bytes"));
  RETURN_IF_ERROR(CheckLength("nccl_id", request.nccl_id().size(),
                              limits::kMaxNcclIdBytes, "bytes"));
  read.gpu_uuid = request.gpu_uuid();
  read.nccl_id = request.nccl_id();
  return read;
}

absl::StatusOr<WorkReport> ReadWorkReport(
    const v1::HeartbeatRequest& request,
    absl::Span<const LoggedMetric> metrics) {
  RETURN_IF_ERROR(CheckLength("reports",
                              static_cast<size_t>(request.reports_size()),
                              limits::kMaxLeaseReports, "leases"));
  RETURN_IF_ERROR(CheckLength("steps",
                              static_cast<size_t>(request.steps_size()),
                              limits::kMaxStepReports, "steps"));
  WorkReport read;
  for (const v1::LeaseReport& report : request.reports()) {
    ASSIGN_OR_RETURN(read.leases.emplace_back(),
                     ReadLeaseReport(report, metrics));
  }
  for (const v1::StepReport& step : request.steps()) {
    ASSIGN_OR_RETURN(read.steps.emplace_back(), ReadStep(step));
  }
  return read;
}

}  // namespace paceline
