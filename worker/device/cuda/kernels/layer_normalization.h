// Normalization of the rows of a matrix. With N elements in a row, x̂ = (x −
// mean) / √(variance + epsilon) and g = gamma · dy,
//
//   y = gamma · x̂ + beta
//   dx = (g − Σ g / N − x̂ · Σ g·x̂ / N) / √(variance + epsilon)
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LAYER_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LAYER_NORMALIZATION_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// A row's mean and 1 / √(variance + epsilon).
struct RowScale {
  float mean;
  float factor;
};

// For each row.
struct RowStatistics {
  int64_t size = 0;
  double epsilon = 0;
  ConstValues inputs{};
  RowScale* scales = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    const int64_t begin = row * size;
    const auto count = static_cast<double>(size);
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += inputs[begin + i];
    const double mean = sum / count;
    double squares = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double difference = inputs[begin + i] - mean;
      squares += difference * difference;
    }
    scales[row] = {
        static_cast<float>(mean),
        static_cast<float>(1 / std::sqrt(squares / count + epsilon))};
  }
};

// For each element.
struct NormalizeRows {
  int64_t size = 0;
  const RowScale* scales = nullptr;
  // Null: ones, zeros.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const RowScale scale = scales[i / size];
    float y = (inputs[i] - scale.mean) * scale.factor;
    if (gamma != nullptr) y *= gamma[i % size];
    if (beta != nullptr) y += beta[i % size];
    outputs.Set(i, y);
  }
};

// sums[part, 0, column] = Σ dy, sums[part, 1, column] = Σ dy·x̂. For each of
// parts · size.
struct RowParameterSums {
  int64_t rows = 0;
  int64_t size = 0;
  int64_t parts = 1;
  const RowScale* scales = nullptr;
  ConstValues inputs{};
  ConstValues gradients{};
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t column = i % size;
    double gradient_sum = 0;
    double product_sum = 0;
    for (int64_t row = i / size; row < rows; row += parts) {
      const int64_t at = row * size + column;
      gradient_sum += gradients[at];
      product_sum += gradients[at] *
                     ((inputs[at] - scales[row].mean) * scales[row].factor);
    }
    sums[2 * (i - column) + column] = gradient_sum;
    sums[2 * (i - column) + size + column] = product_sum;
  }
};

// Σ g / N of a row, and Σ g·x̂ / N / √(variance + epsilon).
struct RowSlope {
  float share;
  float slope;
};

// For each row.
struct RowSlopes {
  int64_t size = 0;
  const RowScale* scales = nullptr;
  const float* gamma = nullptr;
  ConstValues inputs{};
  ConstValues gradients{};
  RowSlope* slopes = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    const auto [mean, factor] = scales[row];
    double sum = 0;
    double products = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = row * size + i;
      const float g = (gamma == nullptr ? 1.0f : gamma[i]) * gradients[at];
      sum += g;
      products += g * (inputs[at] - mean);
    }
    const auto count = static_cast<double>(size);
    slopes[row] = {static_cast<float>(sum / count),
                   static_cast<float>(products * factor * factor / count)};
  }
};

// For each element.
struct NormalizeRowsBackward {
  int64_t size = 0;
  const RowScale* scales = nullptr;
  const RowSlope* slopes = nullptr;
  const float* gamma = nullptr;
  ConstValues inputs{};
  ConstValues gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto [mean, factor] = scales[i / size];
    const auto [share, slope] = slopes[i / size];
    const float g = (gamma == nullptr ? 1.0f : gamma[i % size]) * gradients[i];
    input_gradients.Set(i, factor * (g - share - (inputs[i] - mean) * slope));
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LAYER_NORMALIZATION_H_
