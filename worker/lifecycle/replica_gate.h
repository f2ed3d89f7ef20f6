// Holds back what changes or copies the variables of a worker until all of its
// replicas have their first ones.
#ifndef PACELINE_WORKER_LIFECYCLE_REPLICA_GATE_H_
#define PACELINE_WORKER_LIFECYCLE_REPLICA_GATE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace paceline {

// Thread-safe.
class ReplicaGate {
 public:
  explicit ReplicaGate(int replicas) : missing_(replicas) {}

  // A replica has its first variables. Call it once for each replica.
  void Arrive();
  // A replica has failed: all waits end with this error. The first error stays.
  void Abandon(const absl::Status& error);
  // Blocks until all replicas have arrived. Otherwise returns the error of the
  // one that failed, or DeadlineExceeded after `timeout`.
  absl::Status Await(absl::Duration timeout);

 private:
  Mutex mutex_;
  CondVar changed_;
  int missing_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_REPLICA_GATE_H_
