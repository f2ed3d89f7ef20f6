// Images whose pixels are weighted sums of pixels of other images (resizing),
// in (batch, height, width, channels).
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_

#include <cstdint>
#include <vector>

#include "common/operations/resize.h"

namespace paceline::cpu {

// Output pixel (i, j) is the sum of the input pixels in rows[i] × columns[j],
// times the weights of row and column. The input has height · width pixels.
// Zero weights are left out.
struct PixelMixture {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  std::vector<op::ResizedElement> rows;
  std::vector<op::ResizedElement> columns;

  int64_t output_pixel_count() const {
    return static_cast<int64_t>(rows.size() * columns.size());
  }
};

// Both functions work on the images [begin, end) of a batch.
void MixPixels(const PixelMixture& mixture, int64_t begin, int64_t end,
               const float* input, float* output);
void MixPixelsBackward(const PixelMixture& mixture, int64_t begin, int64_t end,
                       const float* output_gradient, float* input_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_
