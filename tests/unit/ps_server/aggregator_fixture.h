// Helpers to feed an aggregator and to print its decisions.
#ifndef PACELINE_TESTS_UNIT_PS_SERVER_AGGREGATOR_FIXTURE_H_
#define PACELINE_TESTS_UNIT_PS_SERVER_AGGREGATOR_FIXTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "paceline/v1/ps.pb.h"
#include "ps_server/aggregator.h"

namespace paceline {

inline v1::WorkerId Worker(uint32_t rank, uint64_t incarnation) {
  v1::WorkerId worker;
  worker.set_rank(rank);
  worker.set_incarnation(incarnation);
  return worker;
}

inline v1::Progress Progress(uint64_t sequence) {
  v1::Progress progress;
  progress.set_sequence(sequence);
  progress.mutable_lease()->set_lease_id(3);
  progress.mutable_lease()->set_examples(64 * sequence);
  progress.mutable_lease()->mutable_sums()->add_states(0.25);
  progress.mutable_lease()->mutable_sums()->add_states(1);
  return progress;
}

inline AggregatorOptions FiveWorkers() {
  AggregatorOptions options;
  options.workers = 5;
  return options;
}

// An aggregator that has admitted workers 0 to 4 with these incarnations.
inline Aggregator MakeAggregator(
    const std::vector<v1::WorkerId>& workers,
    const AggregatorOptions& options = FiveWorkers(), int64_t step = 0) {
  Aggregator aggregator(step, options);
  for (const v1::WorkerId& worker : workers) {
    EXPECT_TRUE(aggregator.Admit(worker).ok());
  }
  return aggregator;
}

// Decisions as text, by ticket: "apply 3", "answer 3".
inline std::vector<std::string> Words(
    const std::vector<PushDecision>& decisions) {
  std::vector<std::string> words;
  for (const PushDecision& decision : decisions) {
    switch (decision.verdict) {
      case Verdict::kApply:
        words.push_back("apply " + std::to_string(decision.ticket));
        break;
      case Verdict::kAdd:
        words.push_back("add " + std::to_string(decision.ticket));
        break;
      case Verdict::kApplySum:
        words.emplace_back("apply sum");
        break;
      case Verdict::kAnswer:
        words.push_back("answer " + std::to_string(decision.ticket));
        break;
      case Verdict::kRefuse:
        words.push_back("refuse " + std::to_string(decision.ticket));
        break;
    }
  }
  return words;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_PS_SERVER_AGGREGATOR_FIXTURE_H_
