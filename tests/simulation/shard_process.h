// A parameter server of the simulated job: an aggregator without variables.
#ifndef PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "ps_server/aggregator.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/member_process.h"

namespace paceline {

class ShardProcess : public MemberProcess {
 public:
  ShardProcess(Simulator& simulator, Ledger& ledger, LeaderProcess& leader,
               int index, const AggregatorOptions& options)
      : MemberProcess(simulator, leader, {TaskType::kPs, index}),
        ledger_(ledger),
        index_(index),
        aggregator_(0, options) {}

  absl::Status CheckInvariants() const override {
    return Annotate(aggregator_.CheckInvariants(), absl::StrCat("ps-", index_));
  }

  // Calls of the leader and the workers. Each may arrive several times.
  bool Initialize() { return is_initialized_ = true; }
  absl::Status Admit(const std::vector<v1::WorkerId>& workers);
  v1::FenceResponse Fence(const v1::WorkerId& worker);
  // Whether the push is answered; if it is held, the worker must send it again.
  absl::StatusOr<bool> Apply(const Push& push);
  // Returns the clock of a worker that will take steps.
  absl::StatusOr<uint64_t> Join(const v1::WorkerId& worker, uint64_t sequence) {
    return aggregator_.Join(worker, sequence);
  }
  int64_t step() const { return aggregator_.step(); }
  // Number of workers that lapsed.
  int lapsed_count() const { return lapsed_count_; }

 private:
  void Registered() override { PassTime(); }
  void PassTime();

  Ledger& ledger_;
  const int index_;
  bool is_initialized_ = false;
  Aggregator aggregator_;
  uint64_t last_ticket_ = 0;
  int lapsed_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_SHARD_PROCESS_H_
