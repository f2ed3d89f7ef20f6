// Bias and rectifier after a product or convolution, for cases that the library
// does not fuse.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// values += bias, then optionally ReLU, in which NaN stays NaN. For each
// element.
struct BiasRelu {
  bool has_relu = false;
  // Size of the last axis.
  int64_t channels = 1;
  // Null: no bias.
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
