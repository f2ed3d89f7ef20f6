// Softmax and log-softmax along an axis.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

// All functions work on the rows [begin, end).

void SoftmaxForward(const RowGeometry& rows, int64_t begin, int64_t end,
                    const float* inputs, float* outputs);
void LogSoftmaxForward(const RowGeometry& rows, int64_t begin, int64_t end,
                       const float* inputs, float* outputs);

// The inputs' gradients may overwrite the outputs or the outputs' gradients.
void SoftmaxBackward(const RowGeometry& rows, int64_t begin, int64_t end,
                     const float* outputs, const float* output_gradients,
                     float* input_gradients);
void LogSoftmaxBackward(const RowGeometry& rows, int64_t begin, int64_t end,
                        const float* outputs, const float* output_gradients,
                        float* input_gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_
