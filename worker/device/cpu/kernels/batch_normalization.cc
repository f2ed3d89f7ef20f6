#include "worker/device/cpu/kernels/batch_normalization.h"

#include <algorithm>

#include "common/base/merge_moments.h"
#include "common/base/simd.h"

namespace paceline::cpu {
namespace {

// Rows that are summed in float32; small enough that they stay in the cache.
constexpr int64_t kSumRows = 32;
// Channels whose sums stay in registers.
constexpr int64_t kSumChannels = 32;

// Sums of at most kSumChannels of the channels over at most kSumRows rows: Σ d
// and Σ d², where d is the difference to a shift.
struct TileSums {
  float shifts[kSumChannels];
  float sums[kSumChannels] = {};
  float squares[kSumChannels] = {};
};

template <typename X>
[[gnu::always_inline]] inline void AddRows(int64_t channels, int64_t rows,
                                           int64_t count, const X* values,
                                           TileSums& tile) {
  int64_t row = 0;
  // Two rows at a time, since each addition depends on the one before.
  for (; row + 1 < rows; row += 2) {
    const X* const x = values + row * channels;
    const X* const y = x + channels;
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) {
      const float d = Load(x[c]) - tile.shifts[c];
      const float e = Load(y[c]) - tile.shifts[c];
      tile.sums[c] += d + e;
      tile.squares[c] += d * d + e * e;
    }
  }
  if (row == rows) return;
  const X* const x = values + row * channels;
#pragma omp simd
  for (int64_t c = 0; c < count; ++c) {
    const float d = Load(x[c]) - tile.shifts[c];
    tile.sums[c] += d;
    tile.squares[c] += d * d;
  }
}

// Merges a tile into the moments. For the first tile the means must be set to
// one of its rows.
//
// The rows are read once, as differences d to the current mean. For n rows Σ (x
// − mean)² = Σ d² − (Σ d)² / n. The subtraction costs no precision: in the
// first tile the shift is one of the values, so Σ d² is at most n + 1 times the
// result; in later tiles (Σ d)² / n is at most twice the amount that the merge
// adds again.
template <typename X>
[[gnu::always_inline]] inline void AddTile(int64_t channels, int64_t rows,
                                           int64_t count, const X* values,
                                           ColumnMoments& moments) {
  TileSums tile;
#pragma omp simd
  for (int64_t c = 0; c < count; ++c) {
    tile.shifts[c] = static_cast<float>(moments.means[c]);
  }
  AddRows(channels, rows, count, values, tile);
  const auto n = static_cast<double>(rows);
  double means[kSumChannels];
  double deviations[kSumChannels];
#pragma omp simd
  for (int64_t c = 0; c < count; ++c) {
    const double sum = double{tile.sums[c]};
    const double deviation = double{tile.squares[c]} - sum * (sum / n);
    means[c] = double{tile.shifts[c]} + sum / n;
    // Written such that NaN stays NaN.
    deviations[c] = deviation < 0 ? 0 : deviation;
  }
  MergeMoments({n, means, deviations}, count, moments);
}

template <typename X>
[[gnu::always_inline]] inline void AddMoments(int64_t channels, int64_t begin,
                                              int64_t end, const X* values,
                                              double* means,
                                              double* deviations) {
  std::fill_n(deviations, channels, 0.0);
  for (int64_t c = 0; c < channels; ++c) {
    means[c] = double{Load(values[begin * channels + c])};
  }
  for (int64_t block = begin; block < end; block += kSumRows) {
    const int64_t rows = std::min(kSumRows, end - block);
    for (int64_t first = 0; first < channels; first += kSumChannels) {
      const X* const x = values + block * channels + first;
      ColumnMoments moments = {static_cast<double>(block - begin),
                               means + first, deviations + first};
      const int64_t count = channels - first;
      if (count >= kSumChannels) {
        AddTile(channels, rows, kSumChannels, x, moments);
      } else {
        AddTile(channels, rows, count, x, moments);
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
                    ConstStored values, double* means, double* deviations) {
  WithTyped(
      values, [&](const auto* x) __attribute__((always_inline)) {
        AddMoments(channels, begin, end, x, means, deviations);
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
