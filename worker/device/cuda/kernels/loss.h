// Losses with their gradients; common/model/losses has the formulas. For each
// example.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_H_

#include <cmath>
#include <cstdint>

#include "worker/device/activation_formulas.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// Into [1e-7, 1 - 1e-7], as Keras does.
PACELINE_HOST_DEVICE inline float ClipProbability(float p) {
  constexpr float kMargin = 1e-7f;
  return p < kMargin ? kMargin : (p > 1 - kMargin ? 1 - kMargin : p);
}

// log Σ exp(row). exp of nothing positive: no overflow.
PACELINE_HOST_DEVICE inline float LogSumExp(const ConstValues& row,
                                            int64_t size) {
  float largest = row[0];
  for (int64_t i = 1; i < size; ++i) {
    largest = row[i] > largest ? row[i] : largest;
  }
  float sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += std::exp(row[i] - largest);
  return largest + std::log(sum);
}

// What a loss reads and writes.
struct LossBlocks {
  const StepValues* step = nullptr;
  ConstValues outputs{};
  // int32 class ids or floats.
  const void* labels = nullptr;
  // Of each example.
  double* values = nullptr;
  // Null: not asked for.
  Values gradients{};
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE double gradient_scale() const {
    return step->gradient_scale * ScaleOf(loss_scale);
  }

  PACELINE_HOST_DEVICE const float* float_labels() const {
    return static_cast<const float*>(labels);
  }
  PACELINE_HOST_DEVICE int32_t class_of(int64_t example) const {
    return static_cast<const int32_t*>(labels)[example];
  }
};

struct MeanSquaredErrorLoss {
  LossBlocks blocks;
  // Elements of an example.
  int64_t size = 0;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    const double share = 1.0 / static_cast<double>(size);
    const auto scale = static_cast<float>(2 * blocks.gradient_scale() * share);
    double sum = 0;
    for (int64_t i = example * size; i < (example + 1) * size; ++i) {
      const float error = blocks.outputs[i] - blocks.float_labels()[i];
      sum += error * error;
      if (blocks.gradients.data != nullptr) {
        blocks.gradients.Set(i, scale * error);
      }
    }
    blocks.values[example] = sum * share;
  }
};

struct BinaryCrossentropyLoss {
  LossBlocks blocks;
  // Elements of an example.
  int64_t size = 0;
  float smoothing = 0;
  bool from_logits = false;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    const double share = 1.0 / static_cast<double>(size);
    const auto scale = static_cast<float>(blocks.gradient_scale() * share);
    double sum = 0;
    for (int64_t i = example * size; i < (example + 1) * size; ++i) {
      const float x = blocks.outputs[i];
      const float y =
          blocks.float_labels()[i] * (1 - smoothing) + smoothing / 2;
      sum += from_logits ? SoftplusOf(x) - x * y : OfProbability(x, y);
      if (blocks.gradients.data != nullptr) {
        blocks.gradients.Set(
            i, scale * (from_logits ? SigmoidOf(x) - y : SlopeOf(x, y)));
      }
    }
    blocks.values[example] = sum * share;
  }

 private:
  PACELINE_HOST_DEVICE static float OfProbability(float p, float y) {
    const float c = ClipProbability(p);
    return -y * std::log(c) - (1 - y) * std::log(1 - c);
  }
  PACELINE_HOST_DEVICE static float SlopeOf(float p, float y) {
    const float c = ClipProbability(p);
    return c == p ? (1 - y) / (1 - c) - y / c : 0.0f;
  }
};

// Rows of classes; the loss of an example is the mean over its rows.
struct CategoricalCrossentropyLoss {
  LossBlocks blocks;
  // Rows of an example.
  int64_t rows = 1;
  int64_t classes = 0;
  // A smoothed label is label · kept + spread.
  float kept = 1;
  float spread = 0;
  bool from_logits = false;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    const double share = 1.0 / static_cast<double>(rows);
    const auto scale = static_cast<float>(blocks.gradient_scale() * share);
    double sum = 0;
    for (int64_t row = example * rows; row < (example + 1) * rows; ++row) {
      const ConstValues x = blocks.outputs.From(row * classes);
      const float* const y = blocks.float_labels() + row * classes;
      const Values dx = blocks.gradients.From(row * classes);
      sum += from_logits ? OfLogits(x, y, scale, dx)
                         : OfQuotients(x, y, scale, dx);
    }
    blocks.values[example] = sum * share;
  }

 private:
  PACELINE_HOST_DEVICE float Smoothed(float label) const {
    return label * kept + spread;
  }

  PACELINE_HOST_DEVICE float OfLogits(const ConstValues& x, const float* labels,
                                      float scale, const Values& dx) const {
    const float log_sum = LogSumExp(x, classes);
    float loss = 0;
    float label_sum = 0;
    for (int64_t i = 0; i < classes; ++i) {
      const float y = Smoothed(labels[i]);
      loss += y * (log_sum - x[i]);
      label_sum += y;
    }
    for (int64_t i = 0; dx.data != nullptr && i < classes; ++i) {
      dx.Set(i, scale * (label_sum * std::exp(x[i] - log_sum) -
                         Smoothed(labels[i])));
    }
    return loss;
  }

  // The row is divided by its sum, then clipped.
  PACELINE_HOST_DEVICE float OfQuotients(const ConstValues& p,
                                         const float* labels, float scale,
                                         const Values& dp) const {
    float sum = 0;
    for (int64_t i = 0; i < classes; ++i) sum += p[i];
    float loss = 0;
    // Σ d(loss)/d(quotient) · quotient.
    float mean_slope = 0;
    for (int64_t i = 0; i < classes; ++i) {
      const float quotient = p[i] / sum;
      loss -= Smoothed(labels[i]) * std::log(ClipProbability(quotient));
      mean_slope += Slope(quotient, labels[i]) * quotient;
    }
    for (int64_t i = 0; dp.data != nullptr && i < classes; ++i) {
      dp.Set(i, scale * (Slope(p[i] / sum, labels[i]) - mean_slope) / sum);
    }
    return loss;
  }

  PACELINE_HOST_DEVICE float Slope(float quotient, float label) const {
    return ClipProbability(quotient) == quotient ? -Smoothed(label) / quotient
                                                 : 0.0f;
  }
};

struct SparseCategoricalCrossentropyLoss {
  LossBlocks blocks;
  int64_t classes = 0;
  bool from_logits = false;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    const int64_t offset = example * classes;
    const ConstValues x = blocks.outputs.From(offset);
    const Values dx = blocks.gradients.From(offset);
    const auto scale = static_cast<float>(blocks.gradient_scale());
    const int32_t chosen = blocks.class_of(example);
    blocks.values[example] = from_logits
                                 ? OfLogits(x, chosen, scale, dx)
                                 : OfProbabilities(x, chosen, scale, dx);
  }

 private:
  PACELINE_HOST_DEVICE float OfLogits(const ConstValues& x, int32_t chosen,
                                      float scale, const Values& dx) const {
    const float log_sum = LogSumExp(x, classes);
    for (int64_t i = 0; dx.data != nullptr && i < classes; ++i) {
      dx.Set(i,
             scale * (std::exp(x[i] - log_sum) - (i == chosen ? 1.0f : 0.0f)));
    }
    return log_sum - x[chosen];
  }

  PACELINE_HOST_DEVICE float OfProbabilities(const ConstValues& p,
                                             int32_t chosen, float scale,
                                             const Values& dp) const {
    float sum = 0;
    for (int64_t i = 0; i < classes; ++i) sum += ClipProbability(p[i]);
    const float clipped = ClipProbability(p[chosen]);
    for (int64_t i = 0; dp.data != nullptr && i < classes; ++i) {
      const float slope = 1 / sum - (i == chosen ? 1 / clipped : 0.0f);
      dp.Set(i, ClipProbability(p[i]) == p[i] ? scale * slope : 0.0f);
    }
    return std::log(sum) - std::log(clipped);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_H_
