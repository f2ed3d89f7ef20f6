#include "worker/device/cpu/kernels/batch_normalization.h"

#include <algorithm>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// Rows that are added up in float32, and stay in the cache meanwhile.
constexpr int64_t kSumRows = 32;
// Channels whose sums stay in registers.
constexpr int64_t kSumChannels = 32;

}  // namespace

PACELINE_MULTIVERSION
void ChannelMoments(int64_t channels, int64_t begin, int64_t end,
                    const float* values, const float* shifts, double* sums,
                    double* squares) {
  std::fill_n(sums, channels, 0.0);
  std::fill_n(squares, channels, 0.0);
  for (int64_t block = begin; block < end; block += kSumRows) {
    const int64_t last = std::min(block + kSumRows, end);
    for (int64_t first = 0; first < channels; first += kSumChannels) {
      const int64_t count = std::min(kSumChannels, channels - first);
      const float* const shift = shifts + first;
      float sum[kSumChannels] = {};
      float square[kSumChannels] = {};
      for (int64_t row = block; row < last; ++row) {
        const float* const x = values + row * channels + first;
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) {
          const float d = x[c] - shift[c];
          sum[c] += d;
          square[c] += d * d;
        }
      }
      for (int64_t c = 0; c < count; ++c) {
        sums[first + c] += double{sum[c]};
        squares[first + c] += double{square[c]};
      }
    }
  }
}

PACELINE_MULTIVERSION
void NormalizeChannels(const ChannelLines& lines, int64_t begin, int64_t end,
                       const float* values, float* outputs) {
  const ChannelLines l = lines;
  for (int64_t row = begin; row < end; ++row) {
    const float* const x = values + row * l.channels;
    float* const y = outputs + row * l.channels;
#pragma omp simd
    for (int64_t c = 0; c < l.channels; ++c) {
      y[c] = Clamped(l.clamp, (x[c] - l.means[c]) * l.scales[c] + l.offsets[c]);
    }
  }
}

PACELINE_MULTIVERSION
void ChannelProducts(const ChannelLines& lines, int64_t begin, int64_t end,
                     const float* values, const float* output_gradients,
                     double* sums, double* products) {
  const ChannelLines l = lines;
  std::fill_n(sums, l.channels, 0.0);
  std::fill_n(products, l.channels, 0.0);
  for (int64_t block = begin; block < end; block += kSumRows) {
    const int64_t last = std::min(block + kSumRows, end);
    for (int64_t first = 0; first < l.channels; first += kSumChannels) {
      const int64_t count = std::min(kSumChannels, l.channels - first);
      const float* const mean = l.means + first;
      const float* const scale = l.scales + first;
      const float* const offset = l.offsets + first;
      float sum[kSumChannels] = {};
      float product[kSumChannels] = {};
      for (int64_t row = block; row < last; ++row) {
        const float* const x = values + row * l.channels + first;
        const float* const dy = output_gradients + row * l.channels + first;
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) {
          const float d = x[c] - mean[c];
          const float g = Unclamped(l.clamp, d * scale[c] + offset[c], dy[c]);
          sum[c] += g;
          product[c] += g * d;
        }
      }
      for (int64_t c = 0; c < count; ++c) {
        sums[first + c] += double{sum[c]};
        products[first + c] += double{product[c]};
      }
    }
  }
}

PACELINE_MULTIVERSION
void NormalizeChannelsBackward(const ChannelLines& lines, const float* shares,
                               const float* slopes, int64_t begin, int64_t end,
                               const float* values,
                               const float* output_gradients,
                               float* input_gradients) {
  const ChannelLines l = lines;
  for (int64_t row = begin; row < end; ++row) {
    const float* const x = values + row * l.channels;
    const float* const dy = output_gradients + row * l.channels;
    float* const dx = input_gradients + row * l.channels;
#pragma omp simd
    for (int64_t c = 0; c < l.channels; ++c) {
      const float d = x[c] - l.means[c];
      const float g = Unclamped(l.clamp, d * l.scales[c] + l.offsets[c], dy[c]);
      dx[c] = l.scales[c] * (g - shares[c] - d * slopes[c]);
    }
  }
}

}  // namespace paceline::cpu
