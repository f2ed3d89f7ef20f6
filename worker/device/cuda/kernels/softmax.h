// Softmax and log-softmax along an axis. For each row.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loops.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

struct SoftmaxForward {
  RowGeometry rows;
  bool is_log = false;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    const int64_t begin = rows.Offset(row);
    const int64_t end = begin + rows.size * rows.stride;
    VisitArray(inputs, [&](const auto& x) {
      const auto for_each = [&](const auto& use) {
        ForEachLoaded(
            begin, end, rows.stride, [&](int64_t i) { return x[i]; }, use);
      };
      float largest = x[begin];
      for_each([&](int64_t, float value) {
        largest = value > largest ? value : largest;
      });
      float sum = 0;
      for_each([&](int64_t, float value) { sum += std::exp(value - largest); });
      const float log_sum = std::log(sum);
      for_each([&](int64_t i, float value) {
        const float distance = value - largest;
        outputs.Set(i, is_log ? distance - log_sum : std::exp(distance) / sum);
      });
    });
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
    struct Loaded {
      float output;
      float gradient;
    };
    const int64_t begin = rows.Offset(row);
    const int64_t end = begin + rows.size * rows.stride;
    VisitArrays(outputs, output_gradients, [&](const auto& y, const auto& dy) {
      const auto for_each = [&](const auto& use) {
        ForEachLoaded(
            begin, end, rows.stride,
            [&](int64_t i) {
              return Loaded{y[i], dy[i]};
            },
            use);
      };
      float sum = 0;
      for_each([&](int64_t, const Loaded& at) {
        sum += is_log ? at.gradient : at.output * at.gradient;
      });
      for_each([&](int64_t i, const Loaded& at) {
        input_gradients.Set(i, is_log ? at.gradient - std::exp(at.output) * sum
                                      : at.output * (at.gradient - sum));
      });
    });
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SOFTMAX_H_
