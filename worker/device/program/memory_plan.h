// The memory plan of a program: the offsets of its tensors in the arena.
//
// Each memory block has a life: the operations from its first to its last use,
// known when the program is compiled. Blocks whose lives overlap must not
// overlap in memory; all others may. Minimising the arena is NP-hard (dynamic
// storage allocation), so a heuristic is used: "greedy by size" of Pisarchyk
// and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
// It places the largest block first, and each block at the lowest offset where
// it fits between the already placed blocks whose lives overlap its own.
//
//   operation  0 1 2 3 4        offset
//   a (64 KB)  ■ ■ ■            0
//   b (32 KB)      ■ ■ ■        64 KB: a lives at operation 2, too
//   c (32 KB)        ■ ■        0: a has ended, and b is higher
//
// Invariants:
//  * Two blocks that live during the same operation do not overlap.
//  * Offsets are multiples of kArenaAlignment.
//  * The plan is deterministic: equal sizes keep their order.
//
// The time is quadratic in the number of blocks, once per program.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace paceline {

// Alignment of all offsets: a multiple of a cache line, and enough for oneDNN's
// scratchpads.
inline constexpr int64_t kArenaAlignment = 128;
inline int64_t AlignUp(int64_t size_bytes) {
  return (size_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// The size of a memory block, and its life: from operation `first` to operation
// `last`, inclusive.
struct Lifetime {
  int64_t size_bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  // By block, in bytes.
  std::vector<int64_t> offsets;
  int64_t size_bytes = 0;
};

// Computes offsets for all blocks, and the size of the arena.
MemoryPlan PlanMemory(absl::Span<const Lifetime> lifetimes);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_MEMORY_PLAN_H_
