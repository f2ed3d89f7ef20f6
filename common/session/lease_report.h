// How far a worker is with its leases, as the session knows it: what a peer
// sent comes here first, and behind it numbers can be added up.
#ifndef PACELINE_COMMON_SESSION_LEASE_REPORT_H_
#define PACELINE_COMMON_SESSION_LEASE_REPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/session/logged_metric.h"
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
  // Of the loss and each metric of the job, or where they are many of the loss
  // alone: then the report that ends the lease has all of them. The count of a
  // mean is finite and not negative; all other numbers may be any. Empty: an
  // early push, to which the states of the report before still apply.
  std::vector<double> states;
};

// `metrics`: the loss and the metrics of the job; a report without examples may
// come without states. InvalidArgument names the field, its value and what is
// expected. Whether the report fits its lease is for LeaseTable.
absl::StatusOr<LeaseReport> ReadLeaseReport(
    const v1::LeaseReport& report, absl::Span<const LoggedMetric> metrics);

// Where a worker stood with the last of its pushes that a shard applied.
struct ShardRecord {
  // Number of that push; 0: there was none.
  int64_t sequence = 0;
  // Of its last leases, up to three, in no order.
  std::vector<LeaseReport> reports;
};

// The same of a push: an early one has no states, and no step that is not
// finite.
absl::StatusOr<ShardRecord> ReadShardRecord(
    const v1::FenceResponse& answer, absl::Span<const LoggedMetric> metrics);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEASE_REPORT_H_
