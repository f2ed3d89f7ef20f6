// What a member of a session has yet to tell its leader.
#ifndef PACELINE_COMMON_SESSION_PENDING_REPORTS_H_
#define PACELINE_COMMON_SESSION_PENDING_REPORTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// Reports leave with a heartbeat, as many as limits.h allows in one, older
// leases first. Those that must arrive are kept until that heartbeat is
// answered. One heartbeat at a time is under way. Not thread-safe.
class PendingReports {
 public:
  // How far the task is with a lease; replaces what was reported of it before.
  // `complete`: it is the last report of the lease. Returns whether the leader
  // should have it at once: it is complete, or the first whose loss is not
  // finite.
  bool AddLease(const v1::LeaseReport& report, bool complete);
  // What this worker adds to a row of steps.csv.
  void AddStep(const v1::StepReport& step);

  // Moves what has room into the heartbeat. Returns whether something that must
  // arrive had none.
  bool MoveInto(v1::HeartbeatRequest& heartbeat);
  // The heartbeat that they were moved into was answered.
  void Arrived();
  // It was not: they go into the next one.
  void TakeBack(const v1::HeartbeatRequest& heartbeat);

  // Complete leases and steps that wait for a heartbeat.
  size_t size() const { return complete_.size() + steps_.size(); }

 private:
  bool MoveLeases(v1::HeartbeatRequest& heartbeat);
  bool MoveSteps(v1::HeartbeatRequest& heartbeat);

  // By id: open leases, which each heartbeat repeats, and complete ones.
  std::map<uint64_t, v1::LeaseReport> leases_;
  // Complete leases that wait, and those in the heartbeat that is under way.
  std::vector<uint64_t> complete_;
  std::vector<uint64_t> under_way_;
  std::vector<v1::StepReport> steps_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_PENDING_REPORTS_H_
