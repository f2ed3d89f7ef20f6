#include "worker/device/cpu/kernels/pixel_mixture.h"

#include <algorithm>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// An input pixel and its weight.
struct Share {
  int64_t pixel = 0;
  float weight = 0;
};

// The input pixels that make up one output pixel.
struct Shares {
  Share list[4];
  int count = 0;

  Shares(const PixelMixture& mixture, const op::ResizedElement& row,
         const op::ResizedElement& column) {
    const auto add = [&](int64_t y, int64_t x, double weight) {
      if (weight == 0) return;
      list[count++] = {y * mixture.width + x, static_cast<float>(weight)};
    };
    const double down = row.upper_share;
    const double right = column.upper_share;
    add(row.lower, column.lower, (1 - down) * (1 - right));
    add(row.lower, column.upper, (1 - down) * right);
    add(row.upper, column.lower, down * (1 - right));
    add(row.upper, column.upper, down * right);
  }
};

}  // namespace

PACELINE_MULTIVERSION
void MixPixels(const PixelMixture& mixture, int64_t begin, int64_t end,
               const float* input, float* output) {
  const int64_t channels = mixture.channels;
  const int64_t input_size = mixture.height * mixture.width * channels;
  float* sum = output + begin * mixture.output_pixel_count() * channels;
  for (int64_t image = begin; image < end; ++image) {
    const float* const in = input + image * input_size;
    for (const op::ResizedElement& row : mixture.rows) {
      for (const op::ResizedElement& column : mixture.columns) {
        std::fill_n(sum, channels, 0.0f);
        const Shares shares(mixture, row, column);
        for (int i = 0; i < shares.count; ++i) {
          const Share share = shares.list[i];
          const float* const pixel = in + share.pixel * channels;
#pragma omp simd
          for (int64_t c = 0; c < channels; ++c)
            sum[c] += share.weight * pixel[c];
        }
        sum += channels;
      }
    }
  }
}

PACELINE_MULTIVERSION
void MixPixelsBackward(const PixelMixture& mixture, int64_t begin, int64_t end,
                       const float* output_gradient, float* input_gradient) {
  const int64_t channels = mixture.channels;
  const int64_t input_size = mixture.height * mixture.width * channels;
  const float* gradient =
      output_gradient + begin * mixture.output_pixel_count() * channels;
  for (int64_t image = begin; image < end; ++image) {
    float* const in_gradient = input_gradient + image * input_size;
    std::fill_n(in_gradient, input_size, 0.0f);
    for (const op::ResizedElement& row : mixture.rows) {
      for (const op::ResizedElement& column : mixture.columns) {
        const Shares shares(mixture, row, column);
        for (int i = 0; i < shares.count; ++i) {
          const Share share = shares.list[i];
          float* const pixel = in_gradient + share.pixel * channels;
#pragma omp simd
          for (int64_t c = 0; c < channels; ++c)
            pixel[c] += share.weight * gradient[c];
        }
        gradient += channels;
      }
    }
  }
}

}  // namespace paceline::cpu
