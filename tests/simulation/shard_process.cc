#include "tests/simulation/shard_process.h"

namespace paceline {

v1::FenceResponse ShardProcess::Fence(const v1::WorkerId& worker) {
  ledger_.Fenced(index_, worker.incarnation());
  return aggregator_.Fence(worker).response;
}

absl::Status ShardProcess::Apply(const Push& push) {
  if (!is_initialized_) {
    ledger_.Violation("a push came before the shard was initialised");
  }
  for (const Decision& decision :
       aggregator_.HandlePush(++last_ticket_, push.worker, push.progress)) {
    if (decision.verdict == Verdict::kRefuse) return decision.error;
    if (decision.verdict == Verdict::kApply) ledger_.Applied(index_, push);
  }
  return absl::OkStatus();
}

}  // namespace paceline
