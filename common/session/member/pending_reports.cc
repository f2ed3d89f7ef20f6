#include "common/session/member/pending_reports.h"

#include <algorithm>
#include <utility>

#include "common/limits.h"

namespace paceline {

bool PendingReports::AddLease(const v1::LeaseReport& report, bool complete) {
  v1::LeaseReport& last = leases_[report.lease_id()];
  const bool is_news =
      report.first_nonfinite_step() > 0 && last.first_nonfinite_step() == 0;
  last = report;
  if (complete) complete_.push_back(report.lease_id());
  return complete || is_news;
}

void PendingReports::AddStep(const v1::StepReport& step) {
  steps_.push_back(step);
}

bool PendingReports::MoveInto(v1::HeartbeatRequest& heartbeat) {
  const bool leaves_leases = MoveLeases(heartbeat);
  const bool leaves_steps = MoveSteps(heartbeat);
  return leaves_leases || leaves_steps;
}

bool PendingReports::MoveLeases(v1::HeartbeatRequest& heartbeat) {
  uint64_t last_id = 0;
  size_t bytes = 0;
  for (const auto& [id, report] : leases_) {
    bytes += report.ByteSizeLong();
    if (heartbeat.reports_size() == limits::kMaxLeaseReports ||
        bytes > limits::kMaxLeaseReportBytes) {
      break;
    }
    *heartbeat.add_reports() = report;
    last_id = id;
  }
  const auto rest =
      std::partition(complete_.begin(), complete_.end(),
                     [last_id](uint64_t id) { return id <= last_id; });
  under_way_.assign(complete_.begin(), rest);
  complete_.erase(complete_.begin(), rest);
  return !complete_.empty();
}

bool PendingReports::MoveSteps(v1::HeartbeatRequest& heartbeat) {
  const auto count = static_cast<std::ptrdiff_t>(
      std::min<size_t>(steps_.size(), limits::kMaxStepReports));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    *heartbeat.add_steps() = std::move(steps_[i]);
  }
  steps_.erase(steps_.begin(), steps_.begin() + count);
  return !steps_.empty();
}

void PendingReports::Arrived() {
  for (const uint64_t id : under_way_) leases_.erase(id);
  under_way_.clear();
}

void PendingReports::TakeBack(const v1::HeartbeatRequest& heartbeat) {
  complete_.insert(complete_.end(), under_way_.begin(), under_way_.end());
  under_way_.clear();
  steps_.insert(steps_.begin(), heartbeat.steps().begin(),
                heartbeat.steps().end());
}

}  // namespace paceline
