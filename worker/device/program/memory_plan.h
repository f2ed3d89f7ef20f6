// Where the tensors of a program lie in the arena.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// Every offset is a multiple: a cache line, and what oneDNN asks of a
// scratchpad.
inline constexpr int64_t kArenaAlignment = 128;
inline int64_t AlignUp(int64_t size_bytes) {
  return (size_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// A block of memory, needed from operation `first` to operation `last`.
struct Lifetime {
  int64_t size_bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  // Of each block, in bytes.
  std::vector<int64_t> offsets;
  int64_t size_bytes = 0;
};

// Gives blocks that live at the same time different memory. Largest first, each
// at the lowest offset that is free during its life ("greedy by size" of
// Pisarchyk and Lee: Efficient Memory Management for Deep Neural Net Inference,
// 2020).
MemoryPlan PlanMemory(absl::Span<const Lifetime> lifetimes);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_
