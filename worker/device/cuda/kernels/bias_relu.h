// What follows a product or a convolution that the library does without.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// values += bias, then relu(values) where it is asked for; NaN stays. For each
// element.
struct BiasRelu {
  bool has_relu = false;
  // Of the last axis.
  int64_t channels = 1;
  // Null: none.
  const float* bias = nullptr;
  Values values{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    float x = values[i];
    if (bias != nullptr) x += bias[i % channels];
    values.Set(i, has_relu && x < 0 ? 0.0f : x);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_
