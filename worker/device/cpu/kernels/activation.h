// Activations over contiguous elements.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ACTIVATION_H_

#include <cstdint>

#include "common/model/activation.h"

namespace paceline::cpu {

// outputs = f(inputs), for a function that is not row-wise.
void ActivationForward(ActivationFunction function, int64_t count,
                       const float* inputs, float* outputs);

// gradients *= f'(inputs).
void ActivationBackward(ActivationFunction function, int64_t count,
                        const float* inputs, float* gradients);

// outputs = max(inputs, 0), NaN where that goes in. They may be one array.
void ReluForward(int64_t count, const float* inputs, float* outputs);

// gradients = 0 where an output of the rectifier is 0.
void ReluBackward(int64_t count, const float* outputs, float* gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ACTIVATION_H_
