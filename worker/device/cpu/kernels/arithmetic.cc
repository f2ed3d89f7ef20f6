#include "worker/device/cpu/kernels/arithmetic.h"

#include <algorithm>

#include "common/base/simd.h"

namespace paceline::cpu {

PACELINE_MULTIVERSION
void AddArrays(int64_t count, const float* a, const float* b, float* sum) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

PACELINE_MULTIVERSION
void MultiplyArrays(int64_t count, const float* a, const float* b,
                    float* product) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) product[i] = a[i] * b[i];
}

PACELINE_MULTIVERSION
void AddNumber(int64_t count, const float* a, float b, float* sum) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b;
}

PACELINE_MULTIVERSION
void MultiplyByNumber(int64_t count, const float* a, float b, float* product) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) product[i] = a[i] * b;
}

// Neighbouring rows at once, as they share lines of the cache.
PACELINE_MULTIVERSION
void SumRows(const RowGeometry& rows, int64_t begin, int64_t end,
             const float* values, float* sums) {
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

}  // namespace paceline::cpu
