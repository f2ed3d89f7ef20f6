// Short rows, computed 16 at a time.
//
// A row of ten classes fills no vector of 16 floats: the compiler's loop over
// its elements would compute the last ones one by one. Here each of 16 rows has
// a lane of its own. A lane goes through its row's elements in their order, so
// that a row has the same result in any block.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_SHORT_ROWS_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_SHORT_ROWS_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

constexpr int64_t kShortRow = 32;
constexpr int64_t kLanes = 16;

// [i][lane] is element i of the row of a lane.
using LaneBlock = float[kShortRow][kLanes];

inline bool AreShort(const RowGeometry& rows) { return rows.size <= kShortRow; }

// The functions below are inlined into what is compiled for each instruction
// set (common/base/simd.h).

// Copies rows [first, first + count), at most kLanes, of `values` into lanes;
// the others keep what they hold.
[[gnu::always_inline]] inline void LoadBlock(const RowGeometry& rows,
                                             int64_t first, int64_t count,
                                             const float* values,
                                             LaneBlock& block) {
  for (int64_t lane = 0; lane < count; ++lane) {
    const float* const row = values + rows.Offset(first + lane);
    for (int64_t i = 0; i < rows.size; ++i)
      block[i][lane] = row[i * rows.stride];
  }
}

// And back.
[[gnu::always_inline]] inline void StoreBlock(const RowGeometry& rows,
                                              int64_t first, int64_t count,
                                              const LaneBlock& block,
                                              float* values) {
  for (int64_t lane = 0; lane < count; ++lane) {
    float* const row = values + rows.Offset(first + lane);
    for (int64_t i = 0; i < rows.size; ++i)
      row[i * rows.stride] = block[i][lane];
  }
}

// Calls `run(i, lane)` for element i of each lane, a vector at a time.
template <typename Run>
[[gnu::always_inline]] inline void ForEachInLanes(int64_t size,
                                                  const Run& run) {
  for (int64_t i = 0; i < size; ++i) {
#pragma omp simd
    for (int64_t lane = 0; lane < kLanes; ++lane) run(i, lane);
  }
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_SHORT_ROWS_H_
