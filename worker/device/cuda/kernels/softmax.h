// Softmax and log-softmax along an axis. For each row.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

struct SoftmaxForward {
  RowGeometry rows;
  bool is_log = false;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    float largest = inputs[rows.Index(row, 0)];
    for (int64_t i = 1; i < rows.size; ++i) {
      const float x = inputs[rows.Index(row, i)];
      largest = x > largest ? x : largest;
    }
    float sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) {
      sum += std::exp(inputs[rows.Index(row, i)] - largest);
    }
    const float log_sum = std::log(sum);
    for (int64_t i = 0; i < rows.size; ++i) {
      const float x = inputs[rows.Index(row, i)] - largest;
      outputs.Set(rows.Index(row, i), is_log ? x - log_sum : std::exp(x) / sum);
    }
  }
};

// The inputs' gradients may overwrite the outputs or the outputs' gradients.
struct SoftmaxBackward {
  RowGeometry rows;
  bool is_log = false;
  ConstValues outputs{};
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    float sum = 0;
    for (int64_t i = 0; i < rows.size; ++i) {
      const int64_t at = rows.Index(row, i);
      const float gradient = output_gradients[at];
      sum += is_log ? gradient : outputs[at] * gradient;
    }
    for (int64_t i = 0; i < rows.size; ++i) {
      const int64_t at = rows.Index(row, i);
      const float gradient = output_gradients[at];
      const float output = outputs[at];
      input_gradients.Set(at, is_log ? gradient - std::exp(output) * sum
                                     : output * (gradient - sum));
    }
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
