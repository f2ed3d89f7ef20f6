// Normalization of the rows of a matrix in C order.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_LAYER_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_LAYER_NORMALIZATION_H_

#include <cstdint>

namespace paceline::cpu {

// A matrix, what its rows are normalized by, and what they are scaled by.
struct NormalizedRows {
  int64_t size = 0;
  const float* values = nullptr;
  // Of each row: the mean, and 1 / √(variance + epsilon).
  float* means = nullptr;
  float* factors = nullptr;
  // Of each column. Null: 1.
  const float* gamma = nullptr;
};

// The rows [begin, end): writes means, factors, and the outputs, to which
// `beta` is added unless it is null.
void LayerNormalizationForward(const NormalizedRows& rows, double epsilon,
                               const float* beta, int64_t begin, int64_t end,
                               float* outputs);

// With N elements in a row, x̂ the normalized input and g = gamma · dy,
//   dx = (g − Σ g / N − x̂ · Σ g·x̂ / N) / √(variance + epsilon)
// for the rows [begin, end).
void LayerNormalizationBackward(const NormalizedRows& rows, int64_t begin,
                                int64_t end, const float* output_gradients,
                                float* input_gradients);

// Of the columns [begin, end), over `row_count` rows: Σ dy·x̂ and Σ dy. Either
// may be null.
void LayerNormalizationSums(const NormalizedRows& rows, int64_t row_count,
                            int64_t begin, int64_t end,
                            const float* output_gradients,
                            float* gamma_gradients, float* beta_gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_LAYER_NORMALIZATION_H_
