#include "worker/device/cpu/kernels/regularization.h"

#include <cmath>

#include "common/base/simd.h"

namespace paceline::cpu {

PACELINE_MULTIVERSION
double PenaltyOf(const Regularizer& regularizer, int64_t count,
                 const float* values) {
  double absolute_sum = 0;
  double square_sum = 0;
#pragma omp simd reduction(+ : absolute_sum, square_sum)
  for (int64_t i = 0; i < count; ++i) {
    const double value = values[i];
    absolute_sum += std::abs(value);
    square_sum += value * value;
  }
  return regularizer.l1 * absolute_sum + regularizer.l2 * square_sum;
}

PACELINE_MULTIVERSION
void AddPenaltyGradient(const Regularizer& regularizer, double scale,
                        int64_t count, const float* values, float* gradients) {
  const auto l1 = static_cast<float>(scale * regularizer.l1);
  const auto l2 = static_cast<float>(scale * regularizer.l2 * 2);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float value = values[i];
    const float sign = value > 0 ? 1.0f : (value < 0 ? -1.0f : 0.0f);
    gradients[i] += l1 * sign + l2 * value;
  }
}

}  // namespace paceline::cpu
