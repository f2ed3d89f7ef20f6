// Combines the replicas of one worker into one member of the job: all get the
// same leases, and their reports are added up.
#ifndef PACELINE_WORKER_LIFECYCLE_REPLICA_HUB_H_
#define PACELINE_WORKER_LIFECYCLE_REPLICA_HUB_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/session/member/member.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/progress_sink.h"

namespace paceline {

// Thread-safe; each replica calls it from its own threads.
class ReplicaHub {
 public:
  using LeaseSource = std::function<absl::StatusOr<std::optional<v1::Lease>>()>;

  // `member` must outlive the hub. `source` returns the worker's leases.
  ReplicaHub(int replicas, Member& member, LeaseSource source);

  // The replica's next lease. All replicas get the same leases in the same
  // order. nullopt: there are no more. Blocks like `source`.
  absl::StatusOr<std::optional<v1::Lease>> NextLease(int replica);

  // The progress sink of a replica; valid as long as the hub.
  ProgressSink& sink(int replica) { return *sinks_[replica]; }

 private:
  class Sink;
  // The reports of a lease, by replica.
  struct OpenLease {
    std::vector<v1::LeaseReport> reports;
    int complete_count = 0;
  };
  // The reports of a step.
  struct OpenStep {
    v1::StepReport sum;
    int count = 0;
  };

  bool HasNext(int replica) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(lease_mutex_);
  v1::Lease TakeNext(int replica) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lease_mutex_);
  void Report(int replica, const v1::LeaseReport& report, bool complete);
  void ReportStep(int64_t step, double total, double weight);
  // Adds the sums of a lease's reports; each step counts once, since replicas
  // take it together.
  void Add(const OpenLease& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int replicas_;
  Member& member_;
  const LeaseSource source_;
  std::vector<std::unique_ptr<ProgressSink>> sinks_;

  Mutex lease_mutex_;
  CondVar fetched_one_;
  // Whether a replica is fetching the next lease for all.
  bool is_fetching_ ABSL_GUARDED_BY(lease_mutex_) = false;
  // Leases that some replica has not taken yet, and the number of the first.
  std::deque<v1::Lease> fetched_ ABSL_GUARDED_BY(lease_mutex_);
  int64_t first_fetched_ ABSL_GUARDED_BY(lease_mutex_) = 0;
  // By replica: the number of its next lease.
  std::vector<int64_t> next_ ABSL_GUARDED_BY(lease_mutex_);
  // There are no more leases; `end_` has the error, if that is the reason.
  bool ended_ ABSL_GUARDED_BY(lease_mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(lease_mutex_);

  Mutex mutex_;
  // By lease id.
  std::map<uint64_t, OpenLease> open_ ABSL_GUARDED_BY(mutex_);
  // By step number.
  std::map<int64_t, OpenStep> open_steps_ ABSL_GUARDED_BY(mutex_);
  v1::LeaseReport sum_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_REPLICA_HUB_H_
