// Parameter servers: gradients are pushed, variables come back with the answer.
//
// One push a shard and step carries the gradients of all its blocks, and its
// answer their variables: one round trip, to all shards at once. A push that
// breaks off is repeated under the same sequence number, which a shard applies
// at most once.
#ifndef PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
#define PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/rpc/call_group.h"
#include "common/rpc/ps_client.h"
#include "common/sharding/shard_plan.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
#include "worker/strategy/strategy.h"

namespace paceline {

struct ParameterServerOptions {
  v1::WorkerId worker;
  // By index.
  std::vector<v1::Member> servers;
  // For a step's pushes, repeats included.
  absl::Duration timeout;
  // Told what the strategy waits for, and "" when it no longer does.
  std::function<void(const std::string&)> on_waiting;
};

class ParameterServerStrategy : public Strategy {
 public:
  // `plan`, `state` and `stream` outlive the strategy.
  ParameterServerStrategy(ParameterServerOptions options, const ShardPlan& plan,
                          ModelState& state, Stream& stream);
  ~ParameterServerStrategy() override;

  absl::Status PullVariables() override;
  absl::Status GradientsReady(int bucket) override;
  absl::StatusOr<int64_t> EndStep(const v1::Progress& progress) override;

 private:
  // What goes to and comes from one shard; reused from step to step.
  struct Shard {
    int index = 0;
    std::unique_ptr<PsClient> client;
    v1::PullRequest pull_request;
    v1::PullResponse pull_response;
    v1::PushRequest push_request;
    v1::PushResponse push_response;
  };

  // Calls `start(shard, timeout, done)` on all shards at once, and again on
  // those that were unavailable, until the timeout.
  template <typename Start>
  absl::Status CallAll(Start start);
  // Takes over the variables that a shard sent.
  absl::Status TakeVariables(
      Shard& shard,
      const google::protobuf::RepeatedPtrField<v1::Block>& blocks);

  const ParameterServerOptions options_;
  const ShardPlan& plan_;
  ModelState& state_;
  Stream& stream_;
  const size_t element_size_;
  // Those that hold blocks.
  std::vector<Shard> shards_;
  CallGroup calls_;
  // What the task waits for, by call.
  std::string waiting_for_push_;
  std::string waiting_for_pull_;
  uint64_t sequence_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_STRATEGY_PARAMETER_SERVER_H_
