#include "common/session/machine/lease_report.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "common/base/peer_count.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

bool IsCount(double value) { return std::isfinite(value) && value >= 0; }

absl::Status CheckStates(absl::Span<const double> states,
                         absl::Span<const LoggedMetric> metrics) {
  const size_t all = StateSize(metrics);
  const size_t reported = ReportedSize(metrics);
  if (states.size() != all && states.size() != reported) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sums.states: ", states.size(), " numbers; expected ", all,
        ", of the loss and the metrics of the job",
        reported < all ? absl::StrCat(", or ", reported, " of the loss") : ""));
  }
  size_t offset = 0;
  for (const LoggedMetric& metric : metrics) {
    if (offset == states.size()) break;
    if (metric.is_mean() && !IsCount(states[offset + 1])) {
      return absl::InvalidArgumentError(absl::StrCat(
          "sums.states[", offset + 1, "]: ", states[offset + 1],
          ", the count of ", metric.name, "; expected a number from 0"));
    }
    offset += metric.state_size;
  }
  return absl::OkStatus();
}

// Reads all fields but the states.
absl::StatusOr<LeaseReport> ReadCounts(const v1::LeaseReport& report) {
  LeaseReport read;
  read.lease_id = report.lease_id();
  ASSIGN_OR_RETURN(read.examples, ReadCount("examples", report.examples(),
                                            limits::kMaxExamples));
  ASSIGN_OR_RETURN(read.steps,
                   ReadCount("steps", report.steps(), limits::kMaxSteps));
  ASSIGN_OR_RETURN(read.first_nonfinite_step,
                   ReadCount("first_nonfinite_step",
                             report.first_nonfinite_step(), read.steps));
  ASSIGN_OR_RETURN(
      read.skipped_examples,
      ReadCount("skipped_examples", report.skipped_examples(), read.examples));
  return read;
}

// Reads a report that came with a push.
absl::StatusOr<LeaseReport> ReadPushed(const v1::LeaseReport& report,
                                       absl::Span<const LoggedMetric> metrics) {
  if (!report.sums().states().empty() || report.examples() == 0) {
    return ReadLeaseReport(report, metrics);
  }
  if (report.first_nonfinite_step() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("first_nonfinite_step: ", report.first_nonfinite_step(),
                     ", without sums; expected 0"));
  }
  return ReadCounts(report);
}

}  // namespace

absl::StatusOr<LeaseReport> ReadLeaseReport(
    const v1::LeaseReport& report, absl::Span<const LoggedMetric> metrics) {
  ASSIGN_OR_RETURN(LeaseReport read, ReadCounts(report));
  const auto& states = report.sums().states();
  if (!states.empty() || read.examples > 0) {
    RETURN_IF_ERROR(CheckStates(states, metrics));
  }
  read.states.assign(states.begin(), states.end());
  if (states.empty()) read.states.resize(ReportedSize(metrics));
  return read;
}

absl::StatusOr<ShardRecord> ReadShardRecord(
    const v1::FenceResponse& answer, absl::Span<const LoggedMetric> metrics) {
  ShardRecord record;
  if (!answer.has_progress()) {
    if (!answer.has_summed()) return record;
    return absl::InvalidArgumentError(absl::StrCat(
        "summed: of push ", answer.summed().sequence(),
        ", without progress; expected progress, of the last push"));
  }
  const v1::Progress& progress = answer.progress();
  ASSIGN_OR_RETURN(record.sequence, ReadCount("sequence", progress.sequence(),
                                              limits::kMaxSteps));
  if (answer.summed().sequence() > progress.sequence()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "summed.sequence: ", answer.summed().sequence(),
        "; expected at most that of the last push, ", progress.sequence()));
  }
  for (const v1::Progress* push : {&answer.summed(), &progress}) {
    for (const v1::LeaseReport* report : {&push->previous(), &push->lease()}) {
      if (report->lease_id() == 0) continue;
      ASSIGN_OR_RETURN(record.reports.emplace_back(),
                       ReadPushed(*report, metrics));
    }
  }
  return record;
}

}  // namespace paceline
