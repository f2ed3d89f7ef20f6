#include "worker/device/cpu/kernels/arithmetic.h"

#include <algorithm>
#include <limits>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// NaN stays, since no comparison with it is true.
inline float LargerOf(float value, float largest) {
  return value > largest || value != value ? value : largest;
}

}  // namespace

// Neighbouring rows are summed together, since they share cache lines.
PACELINE_MULTIVERSION
void SumRows(const RowGeometry& rows, int64_t begin, int64_t end,
             const float* values, float* sums) {
  if (rows.stride == 1) {
    for (int64_t row = begin; row < end; ++row) {
      const float* const from = values + rows.Offset(row);
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (int64_t i = 0; i < rows.size; ++i) total += double{from[i]};
      sums[row] = static_cast<float>(total);
    }
    return;
  }
  constexpr int64_t kRows = 64;
  for (int64_t row = begin; row < end;) {
    const int64_t count =
        std::min({kRows, rows.stride - row % rows.stride, end - row});
    double totals[kRows] = {};
    const float* from = values + rows.Offset(row);
    for (int64_t i = 0; i < rows.size; ++i, from += rows.stride) {
#pragma omp simd
      for (int64_t r = 0; r < count; ++r) totals[r] += double{from[r]};
    }
    for (int64_t r = 0; r < count; ++r) {
      sums[row + r] = static_cast<float>(totals[r]);
    }
    row += count;
  }
}

PACELINE_MULTIVERSION
void FindRowMaxima(const RowGeometry& rows, int64_t begin, int64_t end,
                   const float* values, float* maxima) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  for (int64_t row = begin; row < end;) {
    // Neighbouring rows together, as above.
    const int64_t count = std::min(rows.stride - row % rows.stride, end - row);
    float* const largest = maxima + row;
    std::fill_n(largest, count, kLeast);
    const float* from = values + rows.Offset(row);
    for (int64_t i = 0; i < rows.size; ++i, from += rows.stride) {
#pragma omp simd
      for (int64_t r = 0; r < count; ++r) {
        largest[r] = LargerOf(from[r], largest[r]);
      }
    }
    row += count;
  }
}

}  // namespace paceline::cpu
