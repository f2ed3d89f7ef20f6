#include "worker/device/cpu/kernels/arg_max.h"

#include <algorithm>
#include <limits>

#include "common/base/simd.h"
#include "worker/device/cpu/kernels/short_rows.h"

namespace paceline::cpu {
namespace {

// The same as ArgMaxOf in worker/device/arg_max.h.
[[gnu::always_inline]] inline void ArgMaxOfShortRows(const RowGeometry& rows,
                                                     int64_t count,
                                                     const float* values,
                                                     int32_t* indices) {
  alignas(64) LaneBlock block = {};
  alignas(64) float largest[kLanes];
  alignas(64) int32_t best[kLanes];
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t lanes = std::min(kLanes, count - first);
    LoadBlock(rows, first, lanes, values, block);
    std::copy_n(block[0], kLanes, largest);
    std::fill_n(best, kLanes, 0);
    ForEachInLanes(
        rows.size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
          const float x = block[i][lane];
          const bool is_larger = (x > largest[lane]) |
                                 ((largest[lane] != largest[lane]) & (x == x));
          best[lane] = is_larger ? static_cast<int32_t>(i) : best[lane];
          largest[lane] = is_larger ? x : largest[lane];
        });
    std::copy_n(best, lanes, indices + first);
  }
}

}  // namespace

PACELINE_MULTIVERSION
void ArgMaxOfRows(int64_t count, int64_t size, const float* rows,
                  int32_t* indices) {
  if (const RowGeometry geometry{.size = size}; AreShort(geometry)) {
    ArgMaxOfShortRows(geometry, count, rows, indices);
    return;
  }
  for (int64_t r = 0; r < count; ++r, rows += size) {
    float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < size; ++i) {
      largest = rows[i] > largest ? rows[i] : largest;
    }
    const float* const found = std::find(rows, rows + size, largest);
    indices[r] = found == rows + size ? 0 : static_cast<int32_t>(found - rows);
  }
}

}  // namespace paceline::cpu
