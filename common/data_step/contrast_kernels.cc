#include "common/data_step/contrast_kernels.h"

#include <algorithm>
#include <cstring>

#include "common/base/simd.h"

namespace paceline {
namespace {

using Float8 = float __attribute__((vector_size(32)));
using Double8 = double __attribute__((vector_size(64)));

}  // namespace

PACELINE_MULTIVERSION
void AddToLanes(const float* in, int64_t count, double* sums) {
  Double8 total[3];
  std::memcpy(total, sums, sizeof(total));
  for (int64_t i = 0; i < count; i += kContrastLanes) {
    Float8 values[3];
    std::memcpy(values, in + i, sizeof(values));
    total[0] += __builtin_convertvector(values[0], Double8);
    total[1] += __builtin_convertvector(values[1], Double8);
    total[2] += __builtin_convertvector(values[2], Double8);
  }
  std::memcpy(sums, total, sizeof(total));
}

PACELINE_MULTIVERSION
void AdjustContrast(const float* in, int64_t count, const float* means,
                    float contrast, float low, float high, float* out) {
  for (int64_t begin = 0; begin < count; begin += kContrastLanes) {
    const int64_t lanes = std::min(kContrastLanes, count - begin);
#pragma omp simd
    for (int64_t i = 0; i < lanes; ++i) {
      float value = (in[begin + i] - means[i]) * contrast + means[i];
      value = value < low ? low : value;
      out[begin + i] = high < value ? high : value;
    }
  }
}

}  // namespace paceline
