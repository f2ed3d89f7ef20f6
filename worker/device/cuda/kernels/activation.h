// Elementwise activations, with the bias before them. For each element.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/model/activation.h"
#include "worker/device/activation_formulas.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// values += bias, then outputs = f(values).
struct BiasActivation {
  ActivationFunction function = ActivationFunction::kLinear;
  // Of the last axis.
  int64_t channels = 1;
  // Null: none.
  const float* bias = nullptr;
  Values values{};
  // Null: only the bias is added.
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    float x = values[i];
    if (bias != nullptr) {
      x += bias[i % channels];
      values.Set(i, x);
    }
    if (outputs.data != nullptr) outputs.Set(i, Activate(function, x));
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_
