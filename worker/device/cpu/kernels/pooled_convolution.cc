#include "worker/device/cpu/kernels/pooled_convolution.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

constexpr int64_t kFilters = PooledConvolution::kFilters;
// Pixels of a pooling window, in C order.
constexpr int kPixels = 4;
// Elements of a patch whose gradients are summed together: those of a 3 x 3
// kernel, which fit into registers.
constexpr int kTaps = 9;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// An image as the convolution reads it: the image itself, or a zero-padded
// copy.
class PaddedImage {
 public:
  explicit PaddedImage(const PooledConvolution& convolution)
      : convolution_(convolution),
        width_(std::max(convolution.width, 2 * convolution.columns +
                                               convolution.kernel_width - 1)),
        height_(
            std::max(convolution.height,
                     2 * convolution.rows + convolution.kernel_height - 1)) {
    const bool is_padded =
        convolution.pad_top > 0 || convolution.pad_left > 0 ||
        width_ > convolution.width || height_ > convolution.height;
    if (!is_padded) return;
    width_ += convolution.pad_left;
    height_ += convolution.pad_top;
    copy_.resize(height_ * row_size());
  }

  int64_t row_size() const { return width_ * convolution_.channels; }

  // Valid until the next call.
  const float* Of(const float* image) {
    if (copy_.empty()) return image;
    const int64_t image_row = convolution_.width * convolution_.channels;
    float* to = copy_.data() + convolution_.pad_top * row_size() +
                convolution_.pad_left * convolution_.channels;
    for (int64_t y = 0; y < convolution_.height; ++y, to += row_size()) {
      std::copy_n(image + y * image_row, image_row, to);
    }
    return copy_.data();
  }

 private:
  const PooledConvolution& convolution_;
  int64_t width_;
  int64_t height_;
  std::vector<float> copy_;
};

// Calls visit(first element of the window's patches, index of the window).
template <typename Visit>
[[gnu::always_inline]] inline void ForEachWindow(
    const PooledConvolution& convolution, const float* image, int64_t row_size,
    Visit visit) {
  for (int64_t row = 0; row < convolution.rows; ++row) {
    const float* patch = image + 2 * row * row_size;
    for (int64_t column = 0; column < convolution.columns; ++column) {
      visit(patch, row * convolution.columns + column);
      patch += 2 * convolution.channels;
    }
  }
}

// Element offsets in the patches of a window, for any kernel size.
class AnyPatches {
 public:
  AnyPatches(const PooledConvolution& convolution, int64_t row_size)
      : pixels_{0, convolution.channels, row_size,
                row_size + convolution.channels},
        taps_(TapCount(convolution)) {
    const int64_t patch_row = convolution.kernel_width * convolution.channels;
    for (int64_t t = 0; t < convolution.patch_size(); ++t) {
      taps_[t] = t / patch_row * row_size + t % patch_row;
    }
  }

  // Taps of a patch, rounded up to a multiple of kTaps. The extra taps repeat
  // the patch's first one.
  static int64_t TapCount(const PooledConvolution& convolution) {
    return (convolution.patch_size() + kTaps - 1) / kTaps * kTaps;
  }

  // The elements from tap `first` on, for the window that begins at `patch`.
  struct Taps {
    template <int pixel, int tap>
    [[gnu::always_inline]] float Get() const {
      return patch[pixels[pixel] + taps[tap]];
    }
    const float* patch;
    const int64_t* pixels;
    const int64_t* taps;
  };
  [[gnu::always_inline]] Taps From(const float* patch, int64_t first) const {
    return {patch, pixels_, &taps_[first]};
  }

 private:
  int64_t pixels_[kPixels];
  std::vector<int64_t> taps_;
};

// The same for 3 x 3 pixels of one channel. Since the compiler knows the
// offsets, it takes a quarter less time.
class GreyPatches {
 public:
  GreyPatches(const PooledConvolution& /*convolution*/, int64_t row_size)
      : row_size_(row_size) {}

  static bool Fits(const PooledConvolution& convolution) {
    return convolution.kernel_height == 3 && convolution.kernel_width == 3 &&
           convolution.channels == 1;
  }
  static int64_t TapCount(const PooledConvolution& /*convolution*/) {
    return kTaps;
  }

  struct Taps {
    template <int pixel, int tap>
    [[gnu::always_inline]] float Get() const {
      return patch[(pixel / 2 + tap / 3) * row_size + pixel % 2 + tap % 3];
    }
    const float* patch;
    int64_t row_size;
  };
  [[gnu::always_inline]] Taps From(const float* patch,
                                   int64_t /*first*/) const {
    return {patch, row_size_};
  }

 private:
  int64_t row_size_;
};

using TapIndices = std::make_integer_sequence<int, kTaps>;
// One number per filter.
using Floats = float[kFilters];

[[gnu::always_inline]] inline void Fill(const Floats& values,
                                        Floats (&elements)[kPixels]) {
#pragma omp simd
  for (int64_t f = 0; f < kFilters; ++f) {
    elements[0][f] = values[f];
    elements[1][f] = values[f];
    elements[2][f] = values[f];
    elements[3][f] = values[f];
  }
}

// Adds what the taps contribute to the pixels of a window. `kernel` has all
// filters of each tap.
//
// Loops over filters become straight vector code, since their length is
// constant and filters are contiguous. Pixels and taps are template arguments,
// so that their sums stay in registers.
template <typename Taps, int... t>
[[gnu::always_inline]] inline void Convolve(
    std::integer_sequence<int, t...> /*indices*/, const Taps& taps,
    const float* kernel, int64_t stride, Floats (&elements)[kPixels]) {
#pragma omp simd
  for (int64_t f = 0; f < kFilters; ++f) {
    float e0 = elements[0][f];
    float e1 = elements[1][f];
    float e2 = elements[2][f];
    float e3 = elements[3][f];
    ((e0 += taps.template Get<0, t>() * kernel[t * stride + f],
      e1 += taps.template Get<1, t>() * kernel[t * stride + f],
      e2 += taps.template Get<2, t>() * kernel[t * stride + f],
      e3 += taps.template Get<3, t>() * kernel[t * stride + f]),
     ...);
    elements[0][f] = e0;
    elements[1][f] = e1;
    elements[2][f] = e2;
    elements[3][f] = e3;
  }
}

// Writes the rectified maximum of a window's pixels, and the position of the
// pixel that receives its gradient: the first of the largest. -1: no pixel
// receives it, since the maximum is not positive or a pixel is NaN.
[[gnu::always_inline]] inline void PoolPixels(const Floats (&elements)[kPixels],
                                              float* values,
                                              int32_t* positions) {
#pragma omp simd
  for (int64_t f = 0; f < kFilters; ++f) {
    const float e0 = elements[0][f];
    const float e1 = elements[1][f];
    const float e2 = elements[2][f];
    const float e3 = elements[3][f];
    const float e01 = e1 > e0 ? e1 : e0;
    const float e23 = e3 > e2 ? e3 : e2;
    const float largest = e23 > e01 ? e23 : e01;
    bool has_nan = e0 != e0;
    has_nan |= e1 != e1;
    has_nan |= e2 != e2;
    has_nan |= e3 != e3;
    const int32_t first = e1 > e0 ? 1 : 0;
    const int32_t second = e3 > e2 ? 3 : 2;
    const int32_t position = e23 > e01 ? second : first;
    const float rectified = largest > 0 ? largest : 0.0f;
    const int32_t passing = largest > 0 ? position : -1;
    values[f] = has_nan ? kNan : rectified;
    positions[f] = has_nan ? -1 : passing;
  }
}

// Adds what a window contributes to the gradients of the taps.
template <typename Taps, int... t>
[[gnu::always_inline]] inline void AddGradients(
    std::integer_sequence<int, t...> /*indices*/, const Taps& taps,
    const float* gradients, const int32_t* positions, Floats (&sums)[kTaps]) {
#pragma omp simd
  for (int64_t f = 0; f < kFilters; ++f) {
    const float g0 = positions[f] == 0 ? gradients[f] : 0.0f;
    const float g1 = positions[f] == 1 ? gradients[f] : 0.0f;
    const float g2 = positions[f] == 2 ? gradients[f] : 0.0f;
    const float g3 = positions[f] == 3 ? gradients[f] : 0.0f;
    ((sums[t][f] +=
      taps.template Get<0, t>() * g0 + taps.template Get<1, t>() * g1 +
      taps.template Get<2, t>() * g2 + taps.template Get<3, t>() * g3),
     ...);
  }
}

template <typename Patches>
[[gnu::always_inline]] inline void Forward(const PooledConvolution& convolution,
                                           int64_t begin, int64_t end,
                                           const float* input,
                                           const float* kernel,
                                           const float* bias, float* output,
                                           int32_t* positions) {
  PaddedImage padded(convolution);
  const Patches patches(convolution, padded.row_size());
  const int64_t tap_count = Patches::TapCount(convolution);
  const int64_t filters = convolution.filters;
  // Zeros for the extra taps.
  std::vector<float> factors(tap_count * filters);
  std::copy_n(kernel, convolution.patch_size() * filters, factors.begin());
  for (int64_t i = begin; i < end; ++i) {
    const float* const image = padded.Of(input + i * convolution.input_size());
    for (int64_t f = 0; f < filters; f += kFilters) {
      const int64_t first_output = i * convolution.output_size() + f;
      Floats start = {};
      if (bias != nullptr) std::copy_n(bias + f, kFilters, start);
      ForEachWindow(
          convolution, image, padded.row_size(),
          [&](const float* patch, int64_t window)
              __attribute__((always_inline)) {
                Floats elements[kPixels];
                Fill(start, elements);
                for (int64_t first = 0; first < tap_count; first += kTaps) {
                  Convolve(TapIndices(), patches.From(patch, first),
                           &factors[first * filters + f], filters, elements);
                }
                const int64_t to = first_output + window * filters;
                int32_t unused[kFilters];
                PoolPixels(elements, output + to,
                           positions == nullptr ? unused : positions + to);
              });
    }
  }
}

// For the filters from `f` on.
[[gnu::always_inline]] inline void AddBiasGradient(
    const PooledConvolution& convolution, int64_t f, const int32_t* positions,
    const float* output_gradient, float* bias_gradient) {
  for (int64_t at = f; at < convolution.output_size();
       at += convolution.filters) {
#pragma omp simd
    for (int64_t k = 0; k < kFilters; ++k) {
      bias_gradient[f + k] +=
          positions[at + k] >= 0 ? output_gradient[at + k] : 0.0f;
    }
  }
}

template <typename Patches>
[[gnu::always_inline]] inline void KernelGradient(
    const PooledConvolution& convolution, int64_t begin, int64_t end,
    const float* input, const int32_t* positions, const float* output_gradient,
    float* kernel_gradient, float* bias_gradient) {
  PaddedImage padded(convolution);
  const Patches patches(convolution, padded.row_size());
  const int64_t patch_size = convolution.patch_size();
  const int64_t filters = convolution.filters;
  for (int64_t i = begin; i < end; ++i) {
    const float* const image = padded.Of(input + i * convolution.input_size());
    const int32_t* const image_positions =
        positions + i * convolution.output_size();
    const float* const gradients =
        output_gradient + i * convolution.output_size();
    for (int64_t f = 0; f < filters; f += kFilters) {
      for (int64_t first = 0; first < patch_size; first += kTaps) {
        Floats sums[kTaps] = {};
        ForEachWindow(
            convolution, image, padded.row_size(),
            [&](const float* patch, int64_t window)
                __attribute__((always_inline)) {
                  AddGradients(TapIndices(), patches.From(patch, first),
                               gradients + window * filters + f,
                               image_positions + window * filters + f, sums);
                });
        const int64_t count = std::min<int64_t>(kTaps, patch_size - first);
        for (int64_t t = 0; t < count; ++t) {
          for (int64_t k = 0; k < kFilters; ++k) {
            kernel_gradient[(first + t) * filters + f + k] += sums[t][k];
          }
        }
      }
      AddBiasGradient(convolution, f, image_positions, gradients,
                      bias_gradient);
    }
  }
}

}  // namespace

PACELINE_MULTIVERSION
void PooledConvolutionForward(const PooledConvolution& convolution,
                              int64_t begin, int64_t end, const float* input,
                              const float* kernel, const float* bias,
                              float* output, int32_t* positions) {
  if (GreyPatches::Fits(convolution)) {
    Forward<GreyPatches>(convolution, begin, end, input, kernel, bias, output,
                         positions);
  } else {
    Forward<AnyPatches>(convolution, begin, end, input, kernel, bias, output,
                        positions);
  }
}

PACELINE_MULTIVERSION
void PooledConvolutionKernelGradient(
    const PooledConvolution& convolution, int64_t begin, int64_t end,
    const float* input, const int32_t* positions, const float* output_gradient,
    float* kernel_gradient, float* bias_gradient) {
  if (GreyPatches::Fits(convolution)) {
    KernelGradient<GreyPatches>(convolution, begin, end, input, positions,
                                output_gradient, kernel_gradient,
                                bias_gradient);
  } else {
    KernelGradient<AnyPatches>(convolution, begin, end, input, positions,
                               output_gradient, kernel_gradient, bias_gradient);
  }
}

}  // namespace paceline::cpu
