#include "worker/device/program/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

// A block that has its place in the arena.
struct PlacedBlock {
  int64_t begin;
  int64_t end;
  int first;
  int last;
};

bool LiveTogether(const Lifetime& a, const PlacedBlock& b) {
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
  std::vector<PlacedBlock> placed;  // By begin.
  placed.reserve(lifetimes.size());
  for (const int index : by_size) {
    const Lifetime& block = lifetimes[index];
    const int64_t size_bytes = AlignUp(block.size_bytes);
    int64_t offset = 0;
    for (const PlacedBlock& other : placed) {
      if (!LiveTogether(block, other)) continue;
      if (offset + size_bytes <= other.begin) break;
      offset = std::max(offset, other.end);
    }
    plan.offsets[index] = offset;
    plan.size_bytes = std::max(plan.size_bytes, offset + size_bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [](int64_t value, const PlacedBlock& b) {
                                     return value < b.begin;
                                   }),
                  {offset, offset + size_bytes, block.first, block.last});
  }
  return plan;
}

}  // namespace paceline
