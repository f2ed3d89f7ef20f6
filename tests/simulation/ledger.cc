#include "tests/simulation/ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace paceline {

void Ledger::Admitted(int shard, uint64_t incarnation) {
  admitted_.emplace(shard, incarnation);
}

void Ledger::Applied(int shard, const Push& push) {
  const uint64_t incarnation = push.worker.incarnation();
  const PushKey key = {incarnation, push.progress.sequence()};
  if (!applied_.emplace(shard, key).second) {
    Violation(absl::StrCat("ps-", shard, " applied push ", key.second,
                           " of incarnation ", incarnation, " twice"));
  }
  if (!admitted_.contains({shard, incarnation})) {
    Violation(absl::StrCat("ps-", shard, " applied a push of incarnation ",
                           incarnation, ", which it was not to admit"));
  }
  if (fenced_.contains({shard, incarnation})) {
    Violation(absl::StrCat("ps-", shard, " applied a push of incarnation ",
                           incarnation, " after its fence"));
  }
  if (!pushes_.insert(key).second) return;
  std::vector<int>& coverage = coverage_[push.epoch];
  coverage.resize(std::max<size_t>(coverage.size(), push.end));
  for (uint64_t i = push.begin; i < push.end; ++i) ++coverage[i];
}

void Ledger::Fenced(int shard, uint64_t incarnation) {
  fenced_.emplace(shard, incarnation);
}

void Ledger::CheckCoverage(int epochs, int64_t examples) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<int>& coverage = coverage_[epoch];
    coverage.resize(std::max<size_t>(coverage.size(), examples));
    for (size_t i = 0; i < coverage.size(); ++i) {
      if (coverage[i] != 1) {
        Violation(absl::StrCat("example ", i, " of epoch ", epoch,
                               " was trained on ", coverage[i], " times"));
      }
    }
  }
}

}  // namespace paceline
