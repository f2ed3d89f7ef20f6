// Batch normalization over rows of channels: with N rows, mean and variance of
// each channel, and x̂ = (x − mean) / √(variance + epsilon),
//
//   y = gamma · x̂ + beta
//   dx = gamma / √(variance + epsilon) · (dy − Σ dy / N − x̂ · Σ dy·x̂ / N)
//
// Sums over rows go in parts, as sums.h has it.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_

#include <cmath>
#include <cstdint>

#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// sums[part, channel] = Σ (x − mean)², where mean = value_sums / rows: squares
// of what is left have the digits. For each of parts · channels.
struct DeviationSums {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  const float* inputs = nullptr;
  const double* value_sums = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t channel = i % channels;
    const double mean = value_sums[channel] / static_cast<double>(rows);
    double sum = 0;
    for (int64_t row = i / channels; row < rows; row += parts) {
      const double difference =
          static_cast<double>(inputs[row * channels + channel]) - mean;
      sum += difference * difference;
    }
    sums[i] = sum;
  }
};

// A channel's mean and 1 / √(variance + epsilon).
struct ChannelScale {
  double mean;
  double inverse_deviation;
};

PACELINE_HOST_DEVICE inline ChannelScale ScaleOf(double mean, double variance,
                                                 double epsilon) {
  return {mean, 1 / std::sqrt((variance > 0 ? variance : 0) + epsilon)};
}

// The statistics of the batch, and how far they move the moving ones, in the
// place of these variables' gradients. For each channel.
struct BatchStatistics {
  int64_t rows = 0;
  const double* value_sums = nullptr;
  const double* deviation_sums = nullptr;
  double epsilon = 0;
  double one_minus_momentum = 0;
  const StepValues* step = nullptr;
  const float* moving_mean = nullptr;
  const float* moving_variance = nullptr;
  float* mean_difference = nullptr;
  float* variance_difference = nullptr;
  ChannelScale* scales = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    const double mean = value_sums[c] / static_cast<double>(rows);
    const double variance = deviation_sums[c] / static_cast<double>(rows);
    scales[c] = ScaleOf(mean, variance, epsilon);
    // The replica's share of the step's examples.
    const double rate = step->regularization_scale * one_minus_momentum;
    mean_difference[c] = static_cast<float>(rate * (mean - moving_mean[c]));
    variance_difference[c] =
        static_cast<float>(rate * (variance - moving_variance[c]));
  }
};

// For each channel.
struct MovingStatistics {
  double epsilon = 0;
  const float* moving_mean = nullptr;
  const float* moving_variance = nullptr;
  ChannelScale* scales = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    scales[c] = ScaleOf(moving_mean[c], moving_variance[c], epsilon);
  }
};

// For each element.
struct Normalize {
  int64_t channels = 0;
  const ChannelScale* scales = nullptr;
  // Null: ones, zeros.
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* inputs = nullptr;
  float* outputs = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i % channels;
    const double x = (inputs[i] - scales[c].mean) * scales[c].inverse_deviation;
    outputs[i] = static_cast<float>((gamma == nullptr ? 1 : gamma[c]) * x +
                                    (beta == nullptr ? 0 : beta[c]));
  }
};

// sums[part, 0, channel] = Σ dy, sums[part, 1, channel] = Σ dy·x̂. For each of
// parts · channels.
struct NormalizeGradientSums {
  int64_t rows = 0;
  int64_t channels = 0;
  int64_t parts = 1;
  const ChannelScale* scales = nullptr;
  const float* inputs = nullptr;
  const float* gradients = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i % channels;
    double gradient_sum = 0;
    double product_sum = 0;
    for (int64_t row = i / channels; row < rows; row += parts) {
      const double dy = gradients[row * channels + c];
      gradient_sum += dy;
      product_sum += dy * (inputs[row * channels + c] - scales[c].mean) *
                     scales[c].inverse_deviation;
    }
    sums[2 * (i - c) + c] = gradient_sum;
    sums[2 * (i - c) + channels + c] = product_sum;
  }
};

// Of gamma and beta; null: there is none. For each channel.
struct NormalizeParameterGradients {
  int64_t channels = 0;
  // Σ dy, then Σ dy·x̂.
  const double* sums = nullptr;
  float* gamma_gradient = nullptr;
  float* beta_gradient = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t c) const {
    if (beta_gradient != nullptr) {
      beta_gradient[c] = static_cast<float>(sums[c]);
    }
    if (gamma_gradient != nullptr) {
      gamma_gradient[c] = static_cast<float>(sums[channels + c]);
    }
  }
};

// Replaces the gradients by the outputs by those by the inputs. For each
// element.
struct NormalizeBackward {
  int64_t rows = 0;
  int64_t channels = 0;
  const ChannelScale* scales = nullptr;
  const float* gamma = nullptr;
  // Σ dy, then Σ dy·x̂.
  const double* sums = nullptr;
  const float* inputs = nullptr;
  float* gradients = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i % channels;
    const auto count = static_cast<double>(rows);
    const double x = (inputs[i] - scales[c].mean) * scales[c].inverse_deviation;
    gradients[i] = static_cast<float>(
        (gamma == nullptr ? 1 : gamma[c]) * scales[c].inverse_deviation *
        (gradients[i] - sums[c] / count - x * sums[channels + c] / count));
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BATCH_NORMALIZATION_H_
