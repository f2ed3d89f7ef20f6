// Records what the shards did with pushes: the truth with which the session's
// counts are compared.
#ifndef PACELINE_TESTS_SIMULATION_LEDGER_H_
#define PACELINE_TESTS_SIMULATION_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/v1/ps.pb.h"

namespace paceline {

// A push in the simulation; the list of examples stands for their gradients.
struct Push {
  v1::WorkerId worker;
  v1::Progress progress;
  v1::WorkerClock clock;
  uint32_t epoch = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class Ledger {
 public:
  // Events: a shard admitted an incarnation; applied a push; fenced an
  // incarnation.
  void Admitted(int shard, uint64_t incarnation);
  void Applied(int shard, const Push& push);
  void Fenced(int shard, uint64_t incarnation);

  // Pushes that at least one shard applied.
  int64_t push_count() const { return static_cast<int64_t>(pushes_.size()); }
  // How many of these have no sums on any shard, because the worker was lost
  // between two pushes of a step.
  int64_t unsummed_count() const;
  // The mean over the examples of an epoch whose sums some shard has.
  double MeanOfSums(uint32_t epoch) const;

  // Reports each example of `epochs` epochs that was not trained on exactly
  // once.
  void CheckCoverage(int epochs, int64_t examples);
  void Violation(std::string what) { violations_.push_back(std::move(what)); }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  // Incarnation and sequence number.
  using PushKey = std::pair<uint64_t, uint64_t>;

  struct Step {
    uint32_t epoch = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
    bool has_sums = false;
  };

  std::map<PushKey, Step> pushes_;
  std::set<std::pair<int, PushKey>> applied_;
  std::set<std::pair<int, uint64_t>> admitted_;
  std::set<std::pair<int, uint64_t>> fenced_;
  // By epoch: how often each example was pushed.
  std::map<uint32_t, std::vector<int>> coverage_;
  std::vector<std::string> violations_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_LEDGER_H_
