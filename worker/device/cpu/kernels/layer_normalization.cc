#include "worker/device/cpu/kernels/layer_normalization.h"

#include <algorithm>
#include <cmath>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// Columns whose sums are kept at a time.
constexpr int64_t kColumnBlock = 64;

}  // namespace

PACELINE_MULTIVERSION
void LayerNormalizationForward(const NormalizedRows& rows, double epsilon,
                               const float* beta, int64_t begin, int64_t end,
                               float* outputs) {
  const int64_t size = rows.size;
  for (int64_t row = begin; row < end; ++row) {
    const float* const x = rows.values + row * size;
    float* const y = outputs + row * size;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < size; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(size);
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < size; ++i) {
      squares += (x[i] - mean) * (x[i] - mean);
    }
    const auto factor = static_cast<float>(
        1 / std::sqrt(double{squares} / static_cast<double>(size) + epsilon));
    rows.means[row] = mean;
    rows.factors[row] = factor;
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * factor;
    if (rows.gamma != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) y[i] *= rows.gamma[i];
    }
    if (beta != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) y[i] += beta[i];
    }
  }
}

PACELINE_MULTIVERSION
void LayerNormalizationBackward(const NormalizedRows& rows, int64_t begin,
                                int64_t end, const float* output_gradients,
                                float* input_gradients) {
  const int64_t size = rows.size;
  for (int64_t row = begin; row < end; ++row) {
    const float* const x = rows.values + row * size;
    const float* const dy = output_gradients + row * size;
    float* const g = input_gradients + row * size;
    const float mean = rows.means[row];
    const float factor = rows.factors[row];
    std::copy_n(dy, size, g);
    if (rows.gamma != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) g[i] *= rows.gamma[i];
    }
    float sum = 0;
    float products = 0;
#pragma omp simd reduction(+ : sum, products)
    for (int64_t i = 0; i < size; ++i) {
      sum += g[i];
      products += g[i] * (x[i] - mean);
    }
    const float shift = sum / static_cast<float>(size);
    const float slope = products * factor * factor / static_cast<float>(size);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
      g[i] = factor * (g[i] - shift - (x[i] - mean) * slope);
    }
  }
}

PACELINE_MULTIVERSION
void LayerNormalizationSums(const NormalizedRows& rows, int64_t row_count,
                            int64_t begin, int64_t end,
                            const float* output_gradients,
                            float* gamma_gradients, float* beta_gradients) {
  for (int64_t first = begin; first < end; first += kColumnBlock) {
    const int64_t count = std::min(kColumnBlock, end - first);
    double products[kColumnBlock] = {};
    double sums[kColumnBlock] = {};
    for (int64_t row = 0; row < row_count; ++row) {
      const float* const x = rows.values + row * rows.size + first;
      const float* const dy = output_gradients + row * rows.size + first;
      const float mean = rows.means[row];
      const float factor = rows.factors[row];
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        sums[i] += double{dy[i]};
        products[i] += double{dy[i] * ((x[i] - mean) * factor)};
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      if (gamma_gradients != nullptr) {
        gamma_gradients[first + i] = static_cast<float>(products[i]);
      }
      if (beta_gradients != nullptr) {
        beta_gradients[first + i] = static_cast<float>(sums[i]);
      }
    }
  }
}

}  // namespace paceline::cpu
