// Pooling over images in (batch, height, width, channels).
//
// By hand: oneDNN 2.6 takes 8 ms on AVX2 for the max pooling of the tutorial's
// batch, forward and backward, where memory allows less than 1 ms
// (tests/benchmark/README.md).
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_

#include <cstdint>
#include <vector>

#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"

namespace paceline::cpu {

// The pixels that each window of an image covers, padding left out.
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

// Over images (batch, height, width, channels).
PoolWindows MakePoolWindows(const op::Window2D& window, const Shape& images);

// All work on the images [begin, end) of a batch.

// The largest element of each window; NaN if one is. With `rectifies`, also
// rectified, which is the same as to rectify the elements.
void MaxPoolForward(const PoolWindows& windows, bool rectifies, int64_t begin,
                    int64_t end, const float* input, float* output);

// The gradient goes to the first of a window's largest elements, or to the
// first element if one is NaN. With `rectifies`, it is by what goes into the
// rectifier, whether that was applied to `input` or by MaxPoolForward.
void MaxPoolBackward(const PoolWindows& windows, bool rectifies, int64_t begin,
                     int64_t end, const float* input, const float* output,
                     const float* output_gradient, float* input_gradient);

void AveragePoolForward(const PoolWindows& windows, int64_t begin, int64_t end,
                        const float* input, float* output);
void AveragePoolBackward(const PoolWindows& windows, int64_t begin, int64_t end,
                         const float* output_gradient, float* input_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLING_H_
