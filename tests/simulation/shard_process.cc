#include "tests/simulation/shard_process.h"

namespace paceline {
namespace {

constexpr absl::Duration kLookInterval = absl::Seconds(1);

}  // namespace

absl::Status ShardProcess::Admit(const std::vector<v1::WorkerId>& workers) {
  absl::Status status;
  for (const v1::WorkerId& worker : workers) {
    ledger_.Admitted(index_, worker.incarnation());
    status.Update(aggregator_.Admit(worker));
  }
  return status;
}

void ShardProcess::PassTime() {
  // Pushes that are held ask again.
  lapsed_count_ +=
      static_cast<int>(aggregator_.HandleTime(simulator_.now()).workers.size());
  simulator_.After(kLookInterval, shared_from_this(), [this] { PassTime(); });
}

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
  for (const PushDecision& decision :
       aggregator_.HandlePush(ticket, push.worker, push.progress, push.clock)) {
    if (decision.verdict == Verdict::kApply) ledger_.Applied(index_, push);
    if (decision.ticket != ticket) continue;
    if (decision.verdict == Verdict::kRefuse) return decision.error;
    is_answered |= decision.verdict == Verdict::kAnswer;
  }
  return is_answered;
}

}  // namespace paceline
