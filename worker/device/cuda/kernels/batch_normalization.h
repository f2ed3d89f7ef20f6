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

// sums[part, channel] = Σ (x − mean)², where mean = value_sums / rows. The mean
// is subtracted before squaring to keep precision. For each of parts ·
// channels.
struct DeviationSums {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  ConstValues inputs{};
  const double* value_sums = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t channel = i % channels;
    const double mean = value_sums[channel] / static_cast<double>(rows);
    double sum = 0;
    VisitArray(inputs, [&](const auto& array) {
      ForEachLoaded(
          i / channels, rows, parts,
          [&](int64_t row) { return array[row * channels + channel]; },
          [&](int64_t, float x) {
            const double difference = static_cast<double>(x) - mean;
            sum += difference * difference;
          });
    });
    sums[i] = sum;
  }
};

// N, the mean of each channel, then its Σ (x − mean)². For each channel.
struct ChannelMoments {
  int64_t rows = 0;
  int64_t channels = 0;
  const double* value_sums = nullptr;
  const double* deviation_sums = nullptr;
  double* moments = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const auto count = static_cast<double>(rows);
    if (c == 0) moments[0] = count;
    moments[1 + c] = value_sums[c] / count;
    moments[1 + channels + c] = deviation_sums[c];
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

// Converts ChannelMoments, possibly of several replicas, to the count, mean and
// variance. For each channel.
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

// An index of the elementwise kernels has a channel of so many rows, for which
// it reads the channel's line once.
struct ChannelRows {
  static constexpr int64_t kRows = 8;

  int64_t rows = 0;
  int64_t channels = 0;

  int64_t index_count() const { return (rows + kRows - 1) / kRows * channels; }

  // Calls use(element, load(element)) for each of them.
  template <typename Load, typename Use>
  PACELINE_HOST_DEVICE void ForEach(int64_t i, const Load& load,
                                    const Use& use) const {
    const int64_t begin = i / channels * kRows;
    const int64_t end = begin + kRows < rows ? begin + kRows : rows;
    const int64_t channel = i % channels;
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
    const ChannelLine line = lines[i % rows.channels];
    VisitArray(inputs, [&](const auto& x) {
      rows.ForEach(
          i, [&](int64_t element) { return x[element]; },
          [&](int64_t element, float value) {
            outputs.Set(element, Clamped(clamp, line(value)));
          });
    });
  }
};

struct InputAndGradient {
  float x;
  float gradient;
};

// sums[part, 0, channel] = Σ g, sums[part, 1, channel] = Σ g·x̂. For each of
// parts · channels.
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
    const int64_t c = i % channels;
    const ChannelLine line = lines[c];
    double gradient_sum = 0;
    double product_sum = 0;
    VisitArrays(inputs, gradients, [&](const auto& x, const auto& dy) {
      ForEachLoaded(
          i / channels, rows, parts,
          [&](int64_t row) {
            const int64_t element = row * channels + c;
            return InputAndGradient{x[element], dy[element]};
          },
          [&](int64_t, const InputAndGradient& at) {
            const float g = Unclamped(clamp, line(at.x), at.gradient);
            gradient_sum += g;
            product_sum += g * ((at.x - line.mean) * line.factor);
          });
    });
    sums[2 * (i - c) + c] = gradient_sum;
    sums[2 * (i - c) + channels + c] = product_sum;
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
    double gradient_sum = 0;
    double product_sum = 0;
    struct Sums {
      double gradient;
      double product;
    };
    ForEachLoaded(
        0, parts, 1,
        [&](int64_t part) {
          const double* const sums = part_sums + 2 * part * channels;
          return Sums{sums[c], sums[channels + c]};
        },
        [&](int64_t, const Sums& sums) {
          gradient_sum += sums.gradient;
          product_sum += sums.product;
        });
    gradient_sums[c] = gradient_sum;
    product_sums[c] = product_sum;
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
    const int64_t c = i % rows.channels;
    const ChannelLine line = lines[c];
    const bool has_slope = slopes != nullptr;
    const ChannelSlope slope = has_slope ? slopes[c] : ChannelSlope{0, 0};
    VisitArrays(inputs, gradients, [&](const auto& x, const auto& dy) {
      rows.ForEach(
          i,
          [&](int64_t element) {
            return InputAndGradient{x[element], dy[element]};
          },
          [&](int64_t element, const InputAndGradient& at) {
            float g = Unclamped(clamp, line(at.x), at.gradient);
            if (has_slope) {
              g -= slope.share + (at.x - line.mean) * slope.slope;
            }
            input_gradients.Set(element, line.scale * g);
          });
    });
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_
