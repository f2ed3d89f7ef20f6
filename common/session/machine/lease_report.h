// A worker's progress with its leases, after validation. Reports of peers enter
// the session through these functions; afterwards their numbers can be added
// without overflow.
#ifndef PACELINE_COMMON_SESSION_MACHINE_LEASE_REPORT_H_
#define PACELINE_COMMON_SESSION_MACHINE_LEASE_REPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/session/machine/logged_metric.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// proto/paceline/v1/coordinator.proto says what the fields mean.
struct LeaseReport {
  uint64_t lease_id = 0;
  // From 0 to limits::kMaxExamples.
  int64_t examples = 0;
  // From 0 to limits::kMaxSteps.
  int64_t steps = 0;
  // From 0 to `steps`.
  int64_t first_nonfinite_step = 0;
  // From 0 to `examples`.
  int64_t skipped_examples = 0;
  // The states of the loss and of each metric. If the states are large, only
  // that of the loss: then the last report of the lease has all of them. The
  // count of a mean is finite and not negative; other numbers may be anything.
  // Empty for an early push, before the loss is known; the states of the report
  // before stay valid.
  std::vector<double> states;
};

// `metrics`: the loss and the metrics of the job. A report without examples may
// come without states. InvalidArgument names the field, its value and what is
// expected. LeaseTable checks whether the report fits its lease.
absl::StatusOr<LeaseReport> ReadLeaseReport(
    const v1::LeaseReport& report, absl::Span<const LoggedMetric> metrics);

// A worker's progress as of its last push that a shard applied.
struct ShardRecord {
  // Number of that push; 0: the shard applied none.
  int64_t sequence = 0;
  // The worker's last leases, up to four, in no order; one may be among them
  // twice.
  std::vector<LeaseReport> reports;
};

// As ReadLeaseReport, for the reports of two pushes in a shard's answer: the
// last one, and the last one with sums, which must not be later, nor be there
// alone. The report of an early push has no states and no non-finite step.
absl::StatusOr<ShardRecord> ReadShardRecord(
    const v1::FenceResponse& answer, absl::Span<const LoggedMetric> metrics);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_LEASE_REPORT_H_
