// Images whose pixels are weighted sums of pixels of others, in (batch, height,
// width, channels).
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/model/layers/up_sampling2d.h"

namespace paceline::cpu {

struct PixelMixture {
  struct Share {
    int32_t pixel = 0;
    float weight = 0;
  };
  int64_t channels = 0;
  // Of an input image.
  int64_t pixel_count = 0;
  // Pixel p of the output mixes shares[starts[p]] to shares[starts[p + 1] - 1].
  std::vector<int32_t> starts;
  std::vector<Share> shares;

  int64_t output_pixel_count() const {
    return static_cast<int64_t>(starts.size()) - 1;
  }
};

// Of images of shape (height, width, channels), by what each row and each
// column of the output takes. Shares of 0 are left out.
PixelMixture MakePixelMixture(absl::Span<const BlendedElement> rows,
                              absl::Span<const BlendedElement> columns,
                              const Shape& image);

// Both work on the images [begin, end) of a batch.
void MixPixels(const PixelMixture& mixture, int64_t begin, int64_t end,
               const float* input, float* output);
void MixPixelsBackward(const PixelMixture& mixture, int64_t begin, int64_t end,
                       const float* output_gradient, float* input_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_PIXEL_MIXTURE_H_
