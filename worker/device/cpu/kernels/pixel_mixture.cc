#include "worker/device/cpu/kernels/pixel_mixture.h"

#include <algorithm>

#include "common/base/simd.h"

namespace paceline::cpu {

PixelMixture MakePixelMixture(absl::Span<const BlendedElement> rows,
                              absl::Span<const BlendedElement> columns,
                              const Shape& image) {
  PixelMixture mixture;
  mixture.channels = image[2];
  mixture.pixel_count = image[0] * image[1];
  const auto add = [&](int64_t row, int64_t column, double weight) {
    if (weight == 0) return;
    mixture.shares.push_back({static_cast<int32_t>(row * image[1] + column),
                              static_cast<float>(weight)});
  };
  for (const BlendedElement& row : rows) {
    for (const BlendedElement& column : columns) {
      mixture.starts.push_back(static_cast<int32_t>(mixture.shares.size()));
      const double down = row.upper_share;
      const double right = column.upper_share;
      add(row.lower, column.lower, (1 - down) * (1 - right));
      add(row.lower, column.upper, (1 - down) * right);
      add(row.upper, column.lower, down * (1 - right));
      add(row.upper, column.upper, down * right);
    }
  }
  mixture.starts.push_back(static_cast<int32_t>(mixture.shares.size()));
  return mixture;
}

PACELINE_MULTIVERSION
void MixPixels(const PixelMixture& mixture, int64_t begin, int64_t end,
               const float* input, float* output) {
  const int64_t channels = mixture.channels;
  const int64_t pixels = mixture.output_pixel_count();
  for (int64_t image = begin; image < end; ++image) {
    const float* const in = input + image * mixture.pixel_count * channels;
    float* sum = output + image * pixels * channels;
    for (int64_t p = 0; p < pixels; ++p, sum += channels) {
      std::fill_n(sum, channels, 0.0f);
      for (int32_t i = mixture.starts[p]; i < mixture.starts[p + 1]; ++i) {
        const PixelMixture::Share share = mixture.shares[i];
        const float* const pixel = in + share.pixel * channels;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c)
          sum[c] += share.weight * pixel[c];
      }
    }
  }
}

PACELINE_MULTIVERSION
void MixPixelsBackward(const PixelMixture& mixture, int64_t begin, int64_t end,
                       const float* output_gradient, float* input_gradient) {
  const int64_t channels = mixture.channels;
  const int64_t pixels = mixture.output_pixel_count();
  const int64_t input_size = mixture.pixel_count * channels;
  for (int64_t image = begin; image < end; ++image) {
    const float* gradient = output_gradient + image * pixels * channels;
    float* const in_gradient = input_gradient + image * input_size;
    std::fill_n(in_gradient, input_size, 0.0f);
    for (int64_t p = 0; p < pixels; ++p, gradient += channels) {
      for (int32_t i = mixture.starts[p]; i < mixture.starts[p + 1]; ++i) {
        const PixelMixture::Share share = mixture.shares[i];
        float* const pixel = in_gradient + share.pixel * channels;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c)
          pixel[c] += share.weight * gradient[c];
      }
    }
  }
}

}  // namespace paceline::cpu
