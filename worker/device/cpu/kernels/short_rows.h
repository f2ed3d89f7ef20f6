// Short rows, computed 16 at a time.
//
// A row of ten classes does not fill a vector of 16 floats: in a vectorised
// loop over its elements, the compiler would compute the remainder one by one.
// Here each of 16 rows has its own lane. A lane processes its row's elements in
// their order, so a row has the same result in any block.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_SHORT_ROWS_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_SHORT_ROWS_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

constexpr int64_t kShortRow = 32;
constexpr int64_t kLanes = 16;

// [i][lane] is element i of the lane's row.
using LaneBlock = float[kShortRow][kLanes];

inline bool AreShort(const RowGeometry& rows) { return rows.size <= kShortRow; }

// These functions are inlined into functions that are compiled once per
// instruction set (common/base/simd.h).

// Copies the rows [first, first + count), at most kLanes, of `values` into
// lanes; other lanes are not changed.
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

// Copies lanes back into rows.
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
