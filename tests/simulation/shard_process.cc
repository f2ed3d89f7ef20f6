#include "tests/simulation/shard_process.h"

namespace paceline {

v1::FenceResponse ShardProcess::Fence(const v1::WorkerId& worker) {
  ledger_.Fenced(index_, worker.incarnation());
  return aggregator_.Fence(worker).response;
}

absl::StatusOr<bool> ShardProcess::Apply(const Push& push) {
  if (!is_initialized_) {
    ledger_.Violation("a push came before the shard was initialised");
  }
  const uint64_t ticket = ++last_ticket_;
  bool is_answered = false;
  for (const Decision& decision :
       aggregator_.HandlePush(ticket, push.worker, push.progress, push.pace)) {
    if (decision.verdict == Verdict::kApply) ledger_.Applied(index_, push);
    if (decision.ticket != ticket) continue;
    if (decision.verdict == Verdict::kRefuse) return decision.error;
    is_answered |= decision.verdict == Verdict::kAnswer;
  }
  return is_answered;
}

}  // namespace paceline
