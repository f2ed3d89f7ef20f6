// Updates of a contiguous range of variables in one launch, by the formulas of
// common/optimizer; none in a step with an overflow. For each of
// FourBlocks(count).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_OPTIMIZER_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_OPTIMIZER_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// What becomes of a gradient before an update.
struct GradientClip {
  // Bound of its absolute value; infinity: none.
  float bound = std::numeric_limits<float>::infinity();
  // In device memory; null: 1. One factor for the whole range.
  const float* factor = nullptr;

  PACELINE_HOST_DEVICE float operator()(float gradient) const {
    const float capped =
        gradient > bound ? bound : (gradient < -bound ? -bound : gradient);
    return factor == nullptr ? capped : *factor * capped;
  }
};

// The step's size is the learning rate lr. With `momenta` null: w -= lr · g.
struct SgdUpdate {
  int64_t count = 0;
  float* values = nullptr;
  const float* gradients = nullptr;
  float* momenta = nullptr;
  const StepValues* step = nullptr;
  float momentum = 0;
  bool nesterov = false;
  GradientClip clip = {};
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    if (HasOverflow(loss_scale)) return;
    FourFloats w = LoadFour(values, block, count);
    const FourFloats g = LoadFour(gradients, block, count);
    const float learning_rate = step->step_size;
    if (momenta == nullptr) {
      for (int i = 0; i < 4; ++i) w[i] -= learning_rate * clip(g[i]);
      StoreFour(w, values, block, count);
      return;
    }
    FourFloats m = LoadFour(momenta, block, count);
    for (int i = 0; i < 4; ++i) {
      const float change = learning_rate * clip(g[i]);
      m[i] = momentum * m[i] - change;
      w[i] += nesterov ? momentum * m[i] - change : m[i];
    }
    StoreFour(m, momenta, block, count);
    StoreFour(w, values, block, count);
  }
};

// The step's size is lr · sqrt(1 - beta_2^t) / (1 - beta_1^t).
// `largest_velocities` is null without amsgrad.
struct AdamUpdate {
  int64_t count = 0;
  float* values = nullptr;
  const float* gradients = nullptr;
  float* momenta = nullptr;
  float* velocities = nullptr;
  float* largest_velocities = nullptr;
  const StepValues* step = nullptr;
  float one_minus_beta_1 = 0;
  float one_minus_beta_2 = 0;
  float epsilon = 0;
  GradientClip clip = {};
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    if (HasOverflow(loss_scale)) return;
    FourFloats w = LoadFour(values, block, count);
    const FourFloats g = LoadFour(gradients, block, count);
    FourFloats m = LoadFour(momenta, block, count);
    FourFloats v = LoadFour(velocities, block, count);
    for (int i = 0; i < 4; ++i) {
      const float gradient = clip(g[i]);
      m[i] += (gradient - m[i]) * one_minus_beta_1;
      v[i] += (gradient * gradient - v[i]) * one_minus_beta_2;
    }
    StoreFour(m, momenta, block, count);
    StoreFour(v, velocities, block, count);
    if (largest_velocities != nullptr) {
      const FourFloats before = LoadFour(largest_velocities, block, count);
      for (int i = 0; i < 4; ++i) v[i] = v[i] > before[i] ? v[i] : before[i];
      StoreFour(v, largest_velocities, block, count);
    }
    const float step_size = step->step_size;
    for (int i = 0; i < 4; ++i) {
      w[i] -= step_size * m[i] / (std::sqrt(v[i]) + epsilon);
    }
    StoreFour(w, values, block, count);
  }
};

// w += d: variables that are not trained, whose differences stand in the place
// of gradients.
struct DifferencesUpdate {
  int64_t count = 0;
  float* values = nullptr;
  const float* differences = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    FourFloats w = LoadFour(values, block, count);
    const FourFloats d = LoadFour(differences, block, count);
    for (int i = 0; i < 4; ++i) w[i] += d[i];
    StoreFour(w, values, block, count);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_OPTIMIZER_H_
