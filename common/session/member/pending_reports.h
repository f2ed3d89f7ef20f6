// The reports that a member has yet to send to its leader.
#ifndef PACELINE_COMMON_SESSION_MEMBER_PENDING_REPORTS_H_
#define PACELINE_COMMON_SESSION_MEMBER_PENDING_REPORTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Reports leave with a heartbeat, as many as limits.h allows in one, older
// leases first. Reports that must not be lost are kept until their heartbeat
// was answered. Only one heartbeat may be under way at a time. Not thread-safe.
class PendingReports {
 public:
  // Adds a report, which replaces earlier ones of the same lease. `complete`:
  // it is the last report of the lease. Returns whether to send it at once: it
  // is complete, or the first of the lease with a non-finite loss.
  bool AddLease(const v1::LeaseReport& report, bool complete);
  // Adds this worker's part of a row of steps.csv.
  void AddStep(const v1::StepReport& step);

  // Moves as many reports as fit into the heartbeat. Returns whether a report
  // that must not be lost did not fit.
  bool MoveInto(v1::HeartbeatRequest& heartbeat);
  // The last heartbeat was answered: forgets the reports in it.
  void Arrived();
  // The last heartbeat failed: its reports go into the next one.
  void TakeBack(const v1::HeartbeatRequest& heartbeat);

  // Complete leases and step rows that wait for a heartbeat.
  size_t size() const { return complete_.size() + steps_.size(); }

 private:
  bool MoveLeases(v1::HeartbeatRequest& heartbeat);
  bool MoveSteps(v1::HeartbeatRequest& heartbeat);

  // By lease id: open leases, which each heartbeat repeats, and complete ones.
  std::map<uint64_t, v1::LeaseReport> leases_;
  // Ids of complete leases that wait for a heartbeat, and of those in the
  // heartbeat that is under way.
  std::vector<uint64_t> complete_;
  std::vector<uint64_t> under_way_;
  std::vector<v1::StepReport> steps_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MEMBER_PENDING_REPORTS_H_
