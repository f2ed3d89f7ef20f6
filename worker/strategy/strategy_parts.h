// The inputs of Make functions of strategies.
#ifndef PACELINE_WORKER_STRATEGY_STRATEGY_PARTS_H_
#define PACELINE_WORKER_STRATEGY_STRATEGY_PARTS_H_

#include <functional>
#include <memory>
#include <string>

#include "common/identity/caller.h"
#include "common/optimizer/optimizer.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
#include "worker/collective/transport.h"
#include "worker/device/device.h"
#include "worker/strategy/local_variables.h"
#include "worker/trace/replica_trace.h"

namespace paceline {

// What a replica and its worker offer to a strategy, which uses the parts that
// it needs. Everything referred to must outlive the strategy.
struct StrategyParts {
  // The leader's answers: to the registration, with the job, and at the start.
  const v1::RegisterResponse& registration;
  const v1::AwaitStartResponse& start;
  // The worker's rank and incarnation, and its identity in calls to parameter
  // servers.
  v1::WorkerId worker;
  std::shared_ptr<const Caller> caller;

  const ShardPlan& plan;
  const Optimizer& optimizer;
  ModelState& state;
  Stream& stream;
  // The group that the replica's device has joined, or null.
  const DeviceGroup* group = nullptr;
  // The variables that the replica's steps update: its own, or those of the
  // replica of rank 0. Null if parameter servers hold them.
  LocalVariables* variables = nullptr;
  // The replica's transport in the group of all replicas, which only the
  // strategy may use. Null if parameter servers hold the variables. A worker
  // that is connected to other workers has one replica.
  Transport* transport = nullptr;
  // Called with what the replica waits for, and with "" when the wait ends.
  std::function<void(const std::string&)> on_waiting;
  // What the replica records; null: nothing.
  ReplicaTrace* trace = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGY_PARTS_H_
