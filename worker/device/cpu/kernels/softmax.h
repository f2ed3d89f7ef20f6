// Softmax and log-softmax along an axis.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_

#include <cstdint>

namespace paceline::cpu {

// A row is `size` elements, `stride` apart. Rows lie as the last two
// dimensions of (rows / stride, size, stride) have it.
struct RowGeometry {
  int64_t size = 0;
  int64_t stride = 1;

  // Of the first element of a row.
  int64_t Offset(int64_t row) const {
    return row / stride * size * stride + row % stride;
  }
};

// All work on the rows [begin, end).

void SoftmaxForward(const RowGeometry& geometry, int64_t begin, int64_t end,
                    const float* inputs, float* outputs);
void LogSoftmaxForward(const RowGeometry& geometry, int64_t begin, int64_t end,
                       const float* inputs, float* outputs);

// Replace the gradients by the outputs by those by the inputs.
void SoftmaxBackward(const RowGeometry& geometry, int64_t begin, int64_t end,
                     const float* outputs, float* gradients);
void LogSoftmaxBackward(const RowGeometry& geometry, int64_t begin, int64_t end,
                        const float* outputs, float* gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_SOFTMAX_H_
