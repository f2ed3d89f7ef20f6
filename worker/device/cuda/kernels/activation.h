// Elementwise activations, with the bias before them. For each element.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_

#include <cstdint>

#include "common/model/activation.h"
#include "worker/device/activation_formulas.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"

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

// Replaces the gradients by the outputs by those by the inputs.
struct ActivationBackward {
  ActivationFunction function = ActivationFunction::kLinear;
  ConstValues inputs{};
  Values gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    gradients.Set(i, gradients[i] * ActivationDerivative(function, inputs[i]));
  }
};

// The ReLU layer: a rectifier with a bend, a slope and a ceiling.
struct BentRelu {
  float threshold = 0;
  float slope = 0;
  // May be infinity.
  float ceiling = 0;
  // The derivative there.
  float at_threshold = 0;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const float x = inputs[i];
    outputs.Set(i, x > threshold ? (x < ceiling ? x : ceiling)
                                 : slope * (x - threshold));
  }
};

// Replaces the gradients by the outputs by those by the inputs.
struct BentReluBackward {
  float threshold = 0;
  float slope = 0;
  float ceiling = 0;
  float at_threshold = 0;
  ConstValues inputs{};
  Values gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    gradients.Set(i, gradients[i] * Derivative(inputs[i]));
  }

 private:
  PACELINE_HOST_DEVICE float Derivative(float x) const {
    if (x < threshold) return slope;
    if (x == threshold) return at_threshold;
    return x < ceiling ? 1 : 0;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACTIVATION_H_
