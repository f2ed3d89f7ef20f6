// Carries out the leader's orders on the variables that a worker's replicas
// hold.
#ifndef PACELINE_WORKER_LIFECYCLE_VARIABLE_ORDERS_H_
#define PACELINE_WORKER_LIFECYCLE_VARIABLE_ORDERS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/session/member/member.h"
#include "paceline/v1/coordinator.pb.h"
#include "worker/collective/transport.h"
#include "worker/lifecycle/local_checkpoints.h"
#include "worker/lifecycle/replica_gate.h"
#include "worker/setup/replica.h"

namespace paceline {

// One replica carries them out for all. No step is under way in any, but a job
// that is resumed may begin with an order, while other replicas still get their
// first variables: then it waits for them. Not thread-safe. Blocks.
class VariableOrders {
 public:
  // `gate` opens once all replicas have their first variables. `checkpoints`:
  // of the first replica. `peers`: the transport to other workers; null if
  // there are none. Everything must outlive the object.
  VariableOrders(Member& member,
                 absl::Span<const std::unique_ptr<Replica>> replicas,
                 ReplicaGate& gate, LocalCheckpoints* checkpoints,
                 Transport* peers)
      : member_(member),
        replicas_(replicas),
        gate_(gate),
        checkpoints_(checkpoints),
        peers_(peers) {}

  // See Member::AcquireLease.
  absl::StatusOr<std::function<void()>> TakeSnapshot(const std::string& name);
  absl::Status Change(const v1::VariablesOrder& order);

 private:
  // Blocks until all replicas of this worker have their first variables. Fails
  // before the leader, whose clock started earlier, gives the worker up.
  absl::Status AwaitReplicas();
  absl::Status SwapAverages(const v1::VariablesOrder& order);
  absl::Status Load(const v1::VariablesOrder& order);

  Member& member_;
  const absl::Span<const std::unique_ptr<Replica>> replicas_;
  ReplicaGate& gate_;
  LocalCheckpoints* const checkpoints_;
  Transport* const peers_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_VARIABLE_ORDERS_H_
