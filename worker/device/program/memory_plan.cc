#include "worker/device/program/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

bool LiveTogether(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan PlanMemory(absl::Span<const Lifetime> lifetimes) {
  std::vector<int> by_size(lifetimes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return lifetimes[a].size_bytes > lifetimes[b].size_bytes;
  });

  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<int> placed;  // By offset.
  for (const int block : by_size) {
    const int64_t size_bytes = AlignUp(lifetimes[block].size_bytes);
    int64_t offset = 0;
    for (const int other : placed) {
      if (!LiveTogether(lifetimes[block], lifetimes[other])) continue;
      if (offset + size_bytes <= plan.offsets[other]) break;
      offset = std::max(
          offset, plan.offsets[other] + AlignUp(lifetimes[other].size_bytes));
    }
    plan.offsets[block] = offset;
    plan.size_bytes = std::max(plan.size_bytes, offset + size_bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](int64_t value, int b) {
                                     return value < plan.offsets[b];
                                   }),
                  block);
  }
  return plan;
}

}  // namespace paceline
