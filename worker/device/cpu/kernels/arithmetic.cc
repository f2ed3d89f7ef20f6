#include "worker/device/cpu/kernels/arithmetic.h"

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

}  // namespace paceline::cpu
