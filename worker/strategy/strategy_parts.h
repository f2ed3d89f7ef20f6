// What a strategy is made of.
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

namespace paceline {

// What a replica and its worker have for a strategy, which takes what it needs.
// What is referred to outlives the strategy.
struct StrategyParts {
  // What the leader told the worker as it registered, with the job, and at the
  // start.
  const v1::RegisterResponse& registration;
  const v1::AwaitStartResponse& start;
  // The worker, and how it says so to parameter servers.
  v1::WorkerId worker;
  std::shared_ptr<const Caller> caller;

  const ShardPlan& plan;
  const Optimizer& optimizer;
  ModelState& state;
  Stream& stream;
  // The group of devices that the replica's is in, or null.
  const DeviceGroup* group = nullptr;
  // What the replica's steps update: its own variables, else those of the
  // replica of rank 0. Null where parameter servers hold them.
  LocalVariables* variables = nullptr;
  // The replica's end of the group of all, for the strategy alone. Null where
  // parameter servers hold the variables. A worker that has peers has one
  // replica.
  Transport* transport = nullptr;
  // Told what the replica waits for, and "" when it no longer does.
  std::function<void(const std::string&)> on_waiting;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_STRATEGY_PARTS_H_
