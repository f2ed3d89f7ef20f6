#include "worker/device/cpu/kernels/arg_max.h"

#include <algorithm>
#include <limits>

#include "common/base/simd.h"

namespace paceline::cpu {

PACELINE_MULTIVERSION
void ArgMaxOfRows(int64_t count, int64_t size, const float* rows,
                  int32_t* indices) {
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
