// Batch normalization. With N rows, and mean and variance per channel, x̂ = (x
// − mean) / √(variance + epsilon), and
//
//   y = gamma · x̂ + beta, clamped
//   dx = gamma / √(variance + epsilon) · (g − Σ g / N − x̂ · Σ g·x̂ / N)
//
// where g is the gradient with respect to the value before the clamp. N and the
// sums may be over several replicas. Sums over rows are computed in parts
// (sums.h). "For each …" says what an index of the kernel stands for.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "common/operations/clamp.h"
#include "worker/device/cuda/kernels/loops.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Two sums of a channel.
struct ChannelSums {
  double first = 0;
  double second = 0;
};

// Stores the two sums of adjacent channels of a part, in part_sums[part, 0 or
// 1, channel]. `to`: of the first channel.
template <int kWidth>
PACELINE_HOST_DEVICE inline void StorePart(const double (&first)[kWidth],
                                           const double (&second)[kWidth],
                                           double* to, int64_t channels) {
  PACELINE_UNROLL
  for (int c = 0; c < kWidth; ++c) {
    to[c] = first[c];
    to[channels + c] = second[c];
  }
}

// Adds up the parts of a channel.
PACELINE_HOST_DEVICE inline ChannelSums SumOfParts(const double* part_sums,
                                                   int64_t parts,
                                                   int64_t channels,
                                                   int64_t channel) {
  ChannelSums total;
  ForEachLoaded(
      0, parts, 1,
      [&](int64_t part) {
        const double* const sums = part_sums + 2 * part * channels + channel;
        return ChannelSums{sums[0], sums[channels]};
      },
      [&](int64_t, const ChannelSums& sums) {
        total.first += sums.first;
        total.second += sums.second;
      });
  return total;
}

// sums[part, 0, channel] = Σ (x − shift), sums[part, 1, channel] = Σ (x −
// shift)². The shift is the channel's first value: without it, precision would
// be lost where the mean is large beside the deviation. For each of parts ·
// FourBlocks(channels).
struct ShiftedSums {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  ConstValues inputs{};
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    VisitChannels(i, channels, {inputs.data},
                  [&](int64_t part, int64_t channel, auto width) {
                    SumUp<width>(part, channel);
                  });
  }

  template <int kWidth>
  PACELINE_HOST_DEVICE void SumUp(int64_t part, int64_t channel) const {
    double shifts[kWidth];
    double value_sums[kWidth] = {};
    double square_sums[kWidth] = {};
    PACELINE_UNROLL
    for (int c = 0; c < kWidth; ++c) shifts[c] = inputs[channel + c];
    VisitArray(inputs, [&](const auto& array) {
      ForEachLoaded(
          part, rows, parts,
          [&](int64_t row) {
            return LoadAdjacent<kWidth>(array, row * channels + channel);
          },
          [&](int64_t, const Adjacent<kWidth>& x) {
            PACELINE_UNROLL
            for (int c = 0; c < kWidth; ++c) {
              const double shifted = static_cast<double>(x[c]) - shifts[c];
              value_sums[c] += shifted;
              square_sums[c] += shifted * shifted;
            }
          });
    });
    StorePart(value_sums, square_sums, sums + 2 * part * channels + channel,
              channels);
  }
};

// The moments of a channel, from parts of ShiftedSums.
struct ChannelMoments {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  ConstValues inputs{};
  const double* sums = nullptr;

  // The mean and Σ (x − mean)².
  PACELINE_HOST_DEVICE ChannelSums Of(int64_t channel) const {
    const ChannelSums shifted = SumOfParts(sums, parts, channels, channel);
    const double mean = shifted.first / static_cast<double>(rows);
    const double square = shifted.second - shifted.first * mean;
    // Rounding may make it less than 0. NaN stays.
    return {inputs[channel] + mean, square < 0 ? 0 : square};
  }
};

// N, the mean of each channel, then its Σ (x − mean)². For each channel.
struct WriteMoments {
  ChannelMoments of_channels;
  double* moments = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const ChannelSums of_channel = of_channels.Of(c);
    if (c == 0) moments[0] = static_cast<double>(of_channels.rows);
    moments[1 + c] = of_channel.first;
    moments[1 + of_channels.channels + c] = of_channel.second;
  }
};

// The count, mean and variance. For each channel.
struct WriteStatistics {
  ChannelMoments of_channels;
  double* count = nullptr;
  double* means = nullptr;
  double* variances = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const auto rows = static_cast<double>(of_channels.rows);
    const ChannelSums of_channel = of_channels.Of(c);
    if (c == 0) *count = rows;
    means[c] = of_channel.first;
    variances[c] = of_channel.second / rows;
  }
};

// Converts the moments of WriteMoments, possibly merged with those of other
// replicas, to the count, mean and variance. For each channel.
struct TakeMoments {
  int64_t channels = 0;
  const double* moments = nullptr;
  double* count = nullptr;
  double* means = nullptr;
  double* variances = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const double rows = moments[0];
    if (c == 0) *count = rows;
    means[c] = moments[1 + c];
    variances[c] = moments[1 + channels + c] / rows;
  }
};

// Per channel: mean, 1 / √(variance + epsilon), that times gamma, and beta.
struct ChannelLine {
  float mean;
  float factor;
  float scale;
  float offset;

  // The value of y before the clamp.
  PACELINE_HOST_DEVICE float operator()(float x) const {
    return (x - mean) * scale + offset;
  }
};

// Statistics may be floats or doubles. For each channel.
template <typename Statistic>
struct MakeChannelLines {
  double epsilon = 0;
  const Statistic* means = nullptr;
  const Statistic* variances = nullptr;
  // Null: gamma is 1, beta is 0.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  ChannelLine* lines = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const double variance = variances[c] < 0 ? 0 : variances[c];
    const auto factor = static_cast<float>(1 / std::sqrt(variance + epsilon));
    lines[c] = {static_cast<float>(means[c]), factor,
                gamma == nullptr ? factor : factor * gamma[c],
                beta == nullptr ? 0.0f : beta[c]};
  }
};

// Blocks of rows. An index of the elementwise kernels has up to four channels
// of a block, for which it reads the channels' lines once.
struct ChannelRows {
  static constexpr int64_t kRows = 8;

  int64_t rows = 0;
  int64_t channels = 0;

  int64_t index_count() const {
    return (rows + kRows - 1) / kRows * FourBlocks(channels);
  }

  // Calls use(element, load(element)) for the channel's element in each row of
  // the block.
  template <typename Load, typename Use>
  PACELINE_HOST_DEVICE void ForEach(int64_t block, int64_t channel,
                                    const Load& load, const Use& use) const {
    const int64_t begin = block * kRows;
    const int64_t end = begin + kRows < rows ? begin + kRows : rows;
    ForEachLoaded(begin * channels + channel, end * channels, channels, load,
                  use);
  }
};

// For each of the index_count of `rows`.
struct Normalize {
  ChannelRows rows;
  op::Clamp clamp;
  const ChannelLine* lines = nullptr;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    VisitChannels(i, rows.channels, {inputs.data, outputs.data},
                  [&](int64_t block, int64_t channel, auto width) {
                    NormalizeRows<width>(block, channel);
                  });
  }

  template <int kWidth>
  PACELINE_HOST_DEVICE void NormalizeRows(int64_t block,
                                          int64_t channel) const {
    ChannelLine line[kWidth];
    PACELINE_UNROLL
    for (int c = 0; c < kWidth; ++c) line[c] = lines[channel + c];
    VisitArray(inputs, [&](const auto& x) {
      rows.ForEach(
          block, channel,
          [&](int64_t element) { return LoadAdjacent<kWidth>(x, element); },
          [&](int64_t element, Adjacent<kWidth> value) {
            PACELINE_UNROLL
            for (int c = 0; c < kWidth; ++c) {
              value[c] = Clamped(clamp, line[c](value[c]));
            }
            StoreAdjacent(value, outputs, element);
          });
    });
  }
};

template <int kWidth>
struct InputsAndGradients {
  Adjacent<kWidth> x;
  Adjacent<kWidth> gradients;
};

// sums[part, 0, channel] = Σ g, sums[part, 1, channel] = Σ g·x̂. For each of
// parts · FourBlocks(channels).
struct NormalizeGradientSums {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  op::Clamp clamp;
  const ChannelLine* lines = nullptr;
  ConstValues inputs{};
  ConstValues gradients{};
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    VisitChannels(i, channels, {inputs.data, gradients.data},
                  [&](int64_t part, int64_t channel, auto width) {
                    SumUp<width>(part, channel);
                  });
  }

  template <int kWidth>
  PACELINE_HOST_DEVICE void SumUp(int64_t part, int64_t channel) const {
    ChannelLine line[kWidth];
    PACELINE_UNROLL
    for (int c = 0; c < kWidth; ++c) line[c] = lines[channel + c];
    double gradient_sums[kWidth] = {};
    double product_sums[kWidth] = {};
    VisitArrays(inputs, gradients, [&](const auto& x, const auto& dy) {
      ForEachLoaded(
          part, rows, parts,
          [&](int64_t row) {
            const int64_t element = row * channels + channel;
            return InputsAndGradients<kWidth>{
                LoadAdjacent<kWidth>(x, element),
                LoadAdjacent<kWidth>(dy, element)};
          },
          [&](int64_t, const InputsAndGradients<kWidth>& at) {
            PACELINE_UNROLL
            for (int c = 0; c < kWidth; ++c) {
              const float g =
                  Unclamped(clamp, line[c](at.x[c]), at.gradients[c]);
              gradient_sums[c] += g;
              product_sums[c] +=
                  g * ((at.x[c] - line[c].mean) * line[c].factor);
            }
          });
    });
    StorePart(gradient_sums, product_sums, sums + 2 * part * channels + channel,
              channels);
  }
};

// Adds up the parts of NormalizeGradientSums. For each channel.
struct SumGradientParts {
  int64_t channels = 0;
  int64_t parts = 1;
  const double* part_sums = nullptr;
  double* gradient_sums = nullptr;
  double* product_sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const ChannelSums sums = SumOfParts(part_sums, parts, channels, c);
    gradient_sums[c] = sums.first;
    product_sums[c] = sums.second;
  }
};

// Σ g / N of a channel, and Σ g·x̂ / N / √(variance + epsilon).
struct ChannelSlope {
  float share;
  float slope;
};

// For each channel.
struct ChannelSlopes {
  // N, Σ g and Σ g·x̂.
  const double* rows = nullptr;
  const double* gradient_sums = nullptr;
  const double* product_sums = nullptr;
  const ChannelLine* lines = nullptr;
  ChannelSlope* slopes = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    slopes[c] = {static_cast<float>(gradient_sums[c] / *rows),
                 static_cast<float>(product_sums[c] / *rows *
                                    static_cast<double>(lines[c].factor))};
  }
};

// For each of the index_count of `rows`. May work in place.
struct NormalizeBackward {
  ChannelRows rows;
  op::Clamp clamp;
  const ChannelLine* lines = nullptr;
  // Null: the statistics do not depend on the batch.
  const ChannelSlope* slopes = nullptr;
  ConstValues inputs{};
  ConstValues gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    VisitChannels(i, rows.channels,
                  {inputs.data, gradients.data, input_gradients.data},
                  [&](int64_t block, int64_t channel, auto width) {
                    NormalizeRows<width>(block, channel);
                  });
  }

  template <int kWidth>
  PACELINE_HOST_DEVICE void NormalizeRows(int64_t block,
                                          int64_t channel) const {
    ChannelLine line[kWidth];
    ChannelSlope slope[kWidth] = {};
    const bool has_slope = slopes != nullptr;
    PACELINE_UNROLL
    for (int c = 0; c < kWidth; ++c) {
      line[c] = lines[channel + c];
      if (has_slope) slope[c] = slopes[channel + c];
    }
    VisitArrays(inputs, gradients, [&](const auto& x, const auto& dy) {
      rows.ForEach(
          block, channel,
          [&](int64_t element) {
            return InputsAndGradients<kWidth>{
                LoadAdjacent<kWidth>(x, element),
                LoadAdjacent<kWidth>(dy, element)};
          },
          [&](int64_t element, const InputsAndGradients<kWidth>& at) {
            Adjacent<kWidth> dx;
            PACELINE_UNROLL
            for (int c = 0; c < kWidth; ++c) {
              float g = Unclamped(clamp, line[c](at.x[c]), at.gradients[c]);
              if (has_slope) {
                g -= slope[c].share + (at.x[c] - line[c].mean) * slope[c].slope;
              }
              dx[c] = line[c].scale * g;
            }
            StoreAdjacent(dx, input_gradients, element);
          });
    });
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_
