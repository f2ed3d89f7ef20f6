#include "worker/device/cpu/kernels/pooling.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// Channels whose maximum is computed together.
constexpr int64_t kChannelBlock = 64;

}  // namespace

PoolWindows MakePoolWindows(const op::Window2D& window, const Shape& images) {
  const int64_t rows = window[0].OutputSize(images[1]);
  const int64_t columns = window[1].OutputSize(images[2]);
  // The pixels along an axis (height or width) that a window covers.
  const auto covered = [&](int axis, int64_t position) {
    const int64_t first =
        position * window[axis].stride - window[axis].pad_before;
    return std::array{std::max<int64_t>(first, 0),
                      std::min(first + window[axis].size, images[1 + axis])};
  };
  PoolWindows result;
  result.channels = images[3];
  result.pixel_count = images[1] * images[2];
  result.starts.push_back(0);
  for (int64_t y = 0; y < rows; ++y) {
    const auto [first_row, last_row] = covered(0, y);
    for (int64_t x = 0; x < columns; ++x) {
      const auto [first_column, last_column] = covered(1, x);
      for (int64_t row = first_row; row < last_row; ++row) {
        for (int64_t column = first_column; column < last_column; ++column) {
          result.pixels.push_back(
              static_cast<int32_t>(row * images[2] + column));
        }
      }
      result.starts.push_back(static_cast<int32_t>(result.pixels.size()));
    }
  }
  return result;
}

PACELINE_MULTIVERSION
void MaxPoolForward(const PoolWindows& windows, bool rectifies, int64_t begin,
                    int64_t end, const float* input, float* output) {
  const int64_t channels = windows.channels;
  const float least =
      rectifies ? 0.0f : -std::numeric_limits<float>::infinity();
  for (int64_t image = begin; image < end; ++image) {
    const float* const in = input + image * windows.pixel_count * channels;
    float* out = output + image * windows.window_count() * channels;
    for (int64_t w = 0; w < windows.window_count(); ++w, out += channels) {
      for (int64_t first = 0; first < channels; first += kChannelBlock) {
        const int64_t count = std::min(kChannelBlock, channels - first);
        float largest[kChannelBlock];
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) largest[c] = least;
        for (int32_t i = windows.starts[w]; i < windows.starts[w + 1]; ++i) {
          const float* const pixel = in + windows.pixels[i] * channels + first;
#pragma omp simd
          for (int64_t c = 0; c < count; ++c) {
            const float value = pixel[c];
            // Comparisons with NaN are false, so NaN stays the largest.
            const float larger = value > largest[c] ? value : largest[c];
            largest[c] = value != value ? value : larger;
          }
        }
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) out[first + c] = largest[c];
      }
    }
  }
}

PACELINE_MULTIVERSION
void MaxPoolBackward(const PoolWindows& windows, bool rectifies, int64_t begin,
                     int64_t end, const float* input, const float* output,
                     const float* output_gradient, float* input_gradient) {
  const int64_t channels = windows.channels;
  const int64_t input_size = windows.pixel_count * channels;
  const int64_t output_size = windows.window_count() * channels;
  for (int64_t image = begin; image < end; ++image) {
    float* const in_gradient = input_gradient + image * input_size;
    std::fill_n(in_gradient, input_size, 0.0f);
    for (int64_t first = 0; first < channels; first += kChannelBlock) {
      const int64_t count = std::min(kChannelBlock, channels - first);
      const float* const in = input + image * input_size + first;
      for (int64_t w = 0; w < windows.window_count(); ++w) {
        const int64_t first_output = image * output_size + w * channels + first;
        const float* const largest = output + first_output;
        const float* const gradient = output_gradient + first_output;
        // The gradient that no pixel has received yet.
        float rest[kChannelBlock];
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) {
          const bool passes = largest[c] > 0.0f || !rectifies;
          rest[c] = passes ? gradient[c] : 0.0f;
        }
        for (int32_t i = windows.starts[w]; i < windows.starts[w + 1]; ++i) {
          const int64_t offset = windows.pixels[i] * channels;
          const float* const pixel = in + offset;
          float* const pixel_gradient = in_gradient + offset + first;
#pragma omp simd
          for (int64_t c = 0; c < count; ++c) {
            // In a window with NaN, the first pixel receives it.
            const bool is_less = pixel[c] < largest[c];
            pixel_gradient[c] += is_less ? 0.0f : rest[c];
            rest[c] = is_less ? rest[c] : 0.0f;
          }
        }
      }
    }
  }
}

PACELINE_MULTIVERSION
void AveragePoolForward(const PoolWindows& windows, int64_t begin, int64_t end,
                        const float* input, float* output) {
  const int64_t channels = windows.channels;
  for (int64_t image = begin; image < end; ++image) {
    const float* const in = input + image * windows.pixel_count * channels;
    float* mean = output + image * windows.window_count() * channels;
    for (int64_t w = 0; w < windows.window_count(); ++w) {
      std::fill_n(mean, channels, 0.0f);
      for (int32_t i = windows.starts[w]; i < windows.starts[w + 1]; ++i) {
        const float* const pixel = in + windows.pixels[i] * channels;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) mean[c] += pixel[c];
      }
      const float share =
          1.0f / static_cast<float>(windows.starts[w + 1] - windows.starts[w]);
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) mean[c] *= share;
      mean += channels;
    }
  }
}

PACELINE_MULTIVERSION
void AveragePoolBackward(const PoolWindows& windows, int64_t begin, int64_t end,
                         const float* output_gradient, float* input_gradient) {
  const int64_t channels = windows.channels;
  const int64_t input_size = windows.pixel_count * channels;
  for (int64_t image = begin; image < end; ++image) {
    const float* gradient =
        output_gradient + image * windows.window_count() * channels;
    float* const in_gradient = input_gradient + image * input_size;
    std::fill_n(in_gradient, input_size, 0.0f);
    for (int64_t w = 0; w < windows.window_count(); ++w) {
      const float share =
          1.0f / static_cast<float>(windows.starts[w + 1] - windows.starts[w]);
      for (int32_t i = windows.starts[w]; i < windows.starts[w + 1]; ++i) {
        float* const pixel = in_gradient + windows.pixels[i] * channels;
#pragma omp simd
        for (int64_t c = 0; c < channels; ++c) pixel[c] += gradient[c] * share;
      }
      gradient += channels;
    }
  }
}

}  // namespace paceline::cpu
