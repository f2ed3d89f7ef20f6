#include "worker/device/program/program_layout.h"

#include <algorithm>

namespace paceline {
namespace {

// The operation during which the blocks in use are largest in sum.
int FindFullest(const ProgramLayout& layout) {
  // By how much each operation needs more memory than the one before.
  std::vector<int64_t> changes(layout.operation_owners.size() + 1);
  const int last = static_cast<int>(changes.size()) - 2;
  for (const ArenaBlock& block : layout.arena) {
    changes[block.lifetime.first] += block.lifetime.size_bytes;
    changes[std::min(block.lifetime.last, last) + 1] -=
        block.lifetime.size_bytes;
  }
  int fullest = 0;
  int64_t in_use = 0;
  int64_t most = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    in_use += changes[i];
    if (in_use <= most) continue;
    most = in_use;
    fullest = static_cast<int>(i);
  }
  return fullest;
}

}  // namespace

std::pair<int, int> ProgramLayout::OperationsOf(int section) const {
  return {section == 0 ? 0 : sections[section - 1].end, sections[section].end};
}

void ProgramLayout::PlaceArena(std::byte* start) const {
  for (const ArenaBlock& block : arena) {
    block.memory->data = start + block.offset;
  }
}

ArenaPeak FindPeak(const ProgramLayout& layout) {
  const int fullest = FindFullest(layout);
  std::vector<int64_t> sizes(layout.owners.size());
  for (const ArenaBlock& block : layout.arena) {
    if (block.lifetime.first > fullest || block.lifetime.last < fullest) {
      continue;
    }
    sizes[block.owner] += block.lifetime.size_bytes;
  }
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  return {layout.owners[largest - sizes.begin()], *largest};
}

}  // namespace paceline
