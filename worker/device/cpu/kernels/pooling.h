// Pooling of images in (batch, height, width, channels).
//
// Own loops, since oneDNN 2.6 takes 8 ms on AVX2 for the max pooling of the
// tutorial's batch, forward and backward, while memory bandwidth would allow
// less than 1 ms (tests/benchmark/README.md).
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_

#include <cstdint>
#include <vector>

#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"

namespace paceline::cpu {

// The pixels that each pooling window of an image covers, without padding.
struct PoolWindows {
  int64_t channels = 0;
  // Pixels of the input image.
  int64_t pixel_count = 0;
  // Window w covers pixels[starts[w]] to pixels[starts[w + 1] - 1], in C order.
  std::vector<int32_t> starts;
  std::vector<int32_t> pixels;

  int64_t window_count() const {
    return static_cast<int64_t>(starts.size()) - 1;
  }
};

// `images`: (batch, height, width, channels).
PoolWindows MakePoolWindows(const op::Window2D& window, const Shape& images);

// All functions work on the images [begin, end) of a batch.

// The largest element of each window; NaN if there is one. With `rectifies`,
// also applies ReLU, which gives the same result as ReLU before the pooling.
void MaxPoolForward(const PoolWindows& windows, bool rectifies, int64_t begin,
                    int64_t end, const float* input, float* output);

// The gradient goes to the first of a window's largest elements, or to its
// first element if there is a NaN. With `rectifies`, the result is the gradient
// with respect to the rectifier's input, no matter whether the rectifier was
// applied to `input` or in MaxPoolForward.
void MaxPoolBackward(const PoolWindows& windows, bool rectifies, int64_t begin,
                     int64_t end, const float* input, const float* output,
                     const float* output_gradient, float* input_gradient);

void AveragePoolForward(const PoolWindows& windows, int64_t begin, int64_t end,
                        const float* input, float* output);
void AveragePoolBackward(const PoolWindows& windows, int64_t begin, int64_t end,
                         const float* output_gradient, float* input_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_
