#include "common/session/lease_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/base/peer_count.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

bool IsCount(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

absl::StatusOr<LeaseReport> ReadLeaseReport(const v1::LeaseReport& report,
                                            int value_count) {
  LeaseReport read;
  read.lease_id = report.lease_id();
  ASSIGN_OR_RETURN(read.examples, ReadCount("examples", report.examples(),
                                            limits::kMaxExamples));
  ASSIGN_OR_RETURN(read.steps,
                   ReadCount("steps", report.steps(), limits::kMaxSteps));
  ASSIGN_OR_RETURN(read.first_nonfinite_step,
                   ReadCount("first_nonfinite_step",
                             report.first_nonfinite_step(), read.steps));
  const auto& totals = report.sums().totals();
  const auto& counts = report.sums().counts();
  const bool has_sums = !totals.empty() || !counts.empty();
  if ((has_sums || read.examples > 0) &&
      (totals.size() != value_count || counts.size() != value_count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sums: ", totals.size(), " totals and ", counts.size(),
                     " counts; the job has ", value_count,
                     " values, the loss and the metrics"));
  }
  const auto bad = std::find_if_not(counts.begin(), counts.end(), IsCount);
  if (bad != counts.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sums.counts: ", *bad, "; expected numbers from 0"));
  }
  read.totals.assign(totals.begin(), totals.end());
  read.counts.assign(counts.begin(), counts.end());
  read.totals.resize(value_count);
  read.counts.resize(value_count);
  return read;
}

absl::StatusOr<ShardRecord> ReadShardRecord(const v1::FenceResponse& answer,
                                            int value_count) {
  ShardRecord record;
  if (!answer.has_progress()) return record;
  const v1::Progress& progress = answer.progress();
  ASSIGN_OR_RETURN(record.sequence, ReadCount("sequence", progress.sequence(),
                                              limits::kMaxSteps));
  for (const v1::LeaseReport* report :
       {&progress.previous(), &progress.lease()}) {
    if (report->lease_id() == 0) continue;
    ASSIGN_OR_RETURN(record.reports.emplace_back(),
                     ReadLeaseReport(*report, value_count));
  }
  return record;
}

}  // namespace paceline
