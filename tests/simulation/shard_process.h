// A parameter server of the simulated job: an aggregator, and no variables.
#ifndef PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_

#include "absl/status/status.h"
#include "ps_server/aggregator.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/member_process.h"

namespace paceline {

class ShardProcess : public MemberProcess {
 public:
  ShardProcess(Simulator& simulator, Ledger& ledger, LeaderProcess& leader,
               int index)
      : MemberProcess(simulator, leader, {TaskType::kPs, index}),
        ledger_(ledger),
        index_(index) {}

  // Calls of the leader and the workers; each may come several times.
  bool Initialize() { return is_initialized_ = true; }
  v1::FenceResponse Fence(const v1::WorkerId& worker);
  absl::Status Apply(const Push& push);
  int64_t step() const { return aggregator_.step(); }

 private:
  Ledger& ledger_;
  const int index_;
  bool is_initialized_ = false;
  Aggregator aggregator_;
  uint64_t last_ticket_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_
