#include "worker/device/cpu/kernels/activation.h"

#include "common/base/simd.h"
#include "worker/device/activation_formulas.h"

namespace paceline::cpu {

PACELINE_MULTIVERSION
void ReluForward(int64_t count, const float* inputs, float* outputs) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    // NaN compares false, and stays.
    outputs[i] = inputs[i] < 0 ? 0.0f : inputs[i];
  }
}

PACELINE_MULTIVERSION
void ReluBackward(int64_t count, const float* outputs, float* gradients) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    gradients[i] = outputs[i] > 0 ? gradients[i] : 0.0f;
  }
}

void ActivationForward(ActivationFunction function, int64_t count,
                       const float* inputs, float* outputs) {
  if (function == ActivationFunction::kRelu) {
    ReluForward(count, inputs, outputs);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    outputs[i] = Activate(function, inputs[i]);
  }
}

void ActivationBackward(ActivationFunction function, int64_t count,
                        const float* inputs, float* gradients) {
  for (int64_t i = 0; i < count; ++i) {
    gradients[i] *= ActivationDerivative(function, inputs[i]);
  }
}

}  // namespace paceline::cpu
