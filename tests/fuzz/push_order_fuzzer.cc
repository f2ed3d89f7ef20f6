// Pushes, joins and fences in any order, and what a checkpoint says of them.
#include <glog/logging.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ps_server/aggregator.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {
namespace {

v1::WorkerId FuzzWorker(FuzzInput& input) {
  v1::WorkerId worker;
  const bool is_right = input.Below(8) != 0;
  worker.set_rank(is_right ? input.Below(2)
                           : static_cast<uint32_t>(input.Number()));
  worker.set_incarnation(is_right ? 1 + worker.rank() : input.Number());
  return worker;
}

v1::Progress FuzzProgress(FuzzInput& input) {
  v1::Progress progress;
  progress.set_sequence(input.Number());
  *progress.mutable_lease() = FuzzReport(input);
  *progress.mutable_previous() = FuzzReport(input);
  return progress;
}

std::optional<double> FuzzRate(FuzzInput& input) {
  switch (input.Below(4)) {
    case 0:
      return input.Real();
    case 1:
      return 0.5;
    default:
      return std::nullopt;
  }
}

AggregatorOptions FuzzOptions(FuzzInput& input) {
  AggregatorOptions options;
  constexpr v1::Consistency kConsistencies[] = {
      v1::CONSISTENCY_ASYNC, v1::CONSISTENCY_BOUNDED, v1::CONSISTENCY_SYNC};
  options.consistency = kConsistencies[input.Below(3)];
  options.workers = 2;
  options.state_size = StateSize(FuzzMetrics());
  options.max_staleness = input.Below(3);
  options.applies_apart =
      options.consistency == v1::CONSISTENCY_SYNC && input.Below(2) == 0;
  return options;
}

// Each push gets one answer.
void Settle(const std::vector<PushDecision>& decisions,
            std::set<uint64_t>& open) {
  for (const PushDecision& decision : decisions) {
    if (decision.verdict != Verdict::kAnswer &&
        decision.verdict != Verdict::kRefuse) {
      continue;
    }
    CHECK_EQ(open.erase(decision.ticket), 1u);
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  const AggregatorOptions options = FuzzOptions(input);
  Aggregator aggregator(0, options);
  std::set<uint64_t> open;
  uint64_t ticket = 0;
  absl::Time now = absl::UnixEpoch();
  while (!input.is_empty()) {
    const v1::WorkerId worker = FuzzWorker(input);
    switch (input.Below(8)) {
      case 0: {
        const auto applied =
            aggregator.HandleApply(static_cast<int64_t>(input.Number()));
        if (applied.ok()) Settle(*applied, open);
        break;
      }
      case 1:
        aggregator.Join(worker, input.Number()).IgnoreError();
        break;
      case 2:
        Settle(aggregator.Fence(worker).decisions, open);
        break;
      case 3: {
        std::map<std::string, std::string> saved = aggregator.Save();
        const bool is_changed = input.Below(2) == 0;
        if (is_changed) saved[input.Text()] = input.Text();
        auto restored = Aggregator::Restore(aggregator.step(), saved, options);
        CHECK(is_changed || restored.ok()) << restored.status();
        if (restored.ok() && open.empty()) aggregator = *std::move(restored);
        break;
      }
      case 4:
        aggregator.Admit(worker).IgnoreError();
        break;
      case 5:
        now += absl::Seconds(input.Below(100));
        Settle(aggregator.HandleTime(now).decisions, open);
        break;
      default: {
        v1::WorkerClock clock;
        clock.set_steps(input.Number());
        clock.set_pauses(input.Below(2) == 0);
        open.insert(++ticket);
        Settle(aggregator.HandlePush(ticket, worker, FuzzProgress(input), clock,
                                     FuzzRate(input)),
               open);
      }
    }
    const absl::Status status = aggregator.CheckInvariants();
    CHECK(status.ok()) << status;
  }
}

}  // namespace paceline
