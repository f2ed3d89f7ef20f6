#include "worker/device/cpu/kernels/batch_normalization.h"

#include <algorithm>

#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// Rows that are added up in float32, and stay in the cache meanwhile.
constexpr int64_t kSumRows = 32;
// Channels whose sums stay in registers.
constexpr int64_t kSumChannels = 32;

template <typename X>
[[gnu::always_inline]] inline void AddMoments(int64_t channels, int64_t begin,
                                              int64_t end, const X* values,
                                              const float* shifts, double* sums,
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
        const X* const x = values + row * channels + first;
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) {
          const float d = Load(x[c]) - shift[c];
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

template <typename X, typename Y>
[[gnu::always_inline]] inline void Normalize(const ChannelLines& lines,
                                             int64_t begin, int64_t end,
                                             const X* values, Y* outputs) {
  const ChannelLines l = lines;
  for (int64_t row = begin; row < end; ++row) {
    const X* const x = values + row * l.channels;
    Y* const y = outputs + row * l.channels;
#pragma omp simd
    for (int64_t c = 0; c < l.channels; ++c) {
      Store(Clamped(l.clamp,
                    (Load(x[c]) - l.means[c]) * l.scales[c] + l.offsets[c]),
            y[c]);
    }
  }
}

template <typename X, typename G>
[[gnu::always_inline]] inline void AddProducts(const ChannelLines& lines,
                                               int64_t begin, int64_t end,
                                               const X* values,
                                               const G* output_gradients,
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
        const X* const x = values + row * l.channels + first;
        const G* const dy = output_gradients + row * l.channels + first;
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) {
          const float d = Load(x[c]) - mean[c];
          const float g =
              Unclamped(l.clamp, d * scale[c] + offset[c], Load(dy[c]));
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

template <typename X, typename G>
[[gnu::always_inline]] inline void NormalizeBackward(
    const ChannelLines& lines, const float* shares, const float* slopes,
    int64_t begin, int64_t end, const X* values, const G* output_gradients,
    X* input_gradients) {
  const ChannelLines l = lines;
  for (int64_t row = begin; row < end; ++row) {
    const X* const x = values + row * l.channels;
    const G* const dy = output_gradients + row * l.channels;
    X* const dx = input_gradients + row * l.channels;
#pragma omp simd
    for (int64_t c = 0; c < l.channels; ++c) {
      const float d = Load(x[c]) - l.means[c];
      const float g =
          Unclamped(l.clamp, d * l.scales[c] + l.offsets[c], Load(dy[c]));
      Store(l.scales[c] * (g - shares[c] - d * slopes[c]), dx[c]);
    }
  }
}

}  // namespace

PACELINE_MULTIVERSION
void ChannelMoments(int64_t channels, int64_t begin, int64_t end,
                    ConstStored values, const float* shifts, double* sums,
                    double* squares) {
  WithTyped(
      values, [&](const auto* x) __attribute__((always_inline)) {
        AddMoments(channels, begin, end, x, shifts, sums, squares);
      });
}

PACELINE_MULTIVERSION
void NormalizeChannels(const ChannelLines& lines, int64_t begin, int64_t end,
                       ConstStored values, Stored outputs) {
  WithTyped(
      values, [&](const auto* x) __attribute__((always_inline)) {
        WithTyped(
            outputs, [&](auto* y) __attribute__((always_inline)) {
              Normalize(lines, begin, end, x, y);
            });
      });
}

PACELINE_MULTIVERSION
void ChannelProducts(const ChannelLines& lines, int64_t begin, int64_t end,
                     ConstStored values, ConstStored output_gradients,
                     double* sums, double* products) {
  WithTyped(
      values, [&](const auto* x) __attribute__((always_inline)) {
        WithTyped(
            output_gradients, [&](const auto* dy)
                                  __attribute__((always_inline)) {
                                    AddProducts(lines, begin, end, x, dy, sums,
                                                products);
                                  });
      });
}

PACELINE_MULTIVERSION
void NormalizeChannelsBackward(const ChannelLines& lines, const float* shares,
                               const float* slopes, int64_t begin, int64_t end,
                               ConstStored values, ConstStored output_gradients,
                               void* input_gradients) {
  WithTyped(
      values, [&]<typename X>(const X* x) __attribute__((always_inline)) {
        WithTyped(
            output_gradients, [&](const auto* dy)
                                  __attribute__((always_inline)) {
                                    NormalizeBackward(
                                        lines, shares, slopes, begin, end, x,
                                        dy, static_cast<X*>(input_gradients));
                                  });
      });
}

}  // namespace paceline::cpu
