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
  const auto [step, is_new] =
      pushes_.try_emplace(key, Step{push.epoch, push.begin, push.end});
  step->second.has_sums |= push.progress.lease().has_sums();
  if (!is_new) return;
  std::vector<int>& coverage = coverage_[push.epoch];
  coverage.resize(std::max<size_t>(coverage.size(), push.end));
  for (uint64_t i = push.begin; i < push.end; ++i) ++coverage[i];
}

int64_t Ledger::unsummed_count() const {
  return std::count_if(pushes_.begin(), pushes_.end(), [](const auto& entry) {
    return !entry.second.has_sums;
  });
}

double Ledger::MeanOfSums(uint32_t epoch) const {
  double total = 0;
  double count = 0;
  for (const auto& [key, step] : pushes_) {
    if (step.epoch != epoch || !step.has_sums) continue;
    for (uint64_t i = step.begin; i < step.end; ++i) {
      total += static_cast<double>(i);
      ++count;
    }
  }
  return total / count;
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
