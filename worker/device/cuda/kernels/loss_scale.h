// Dynamic loss scaling like Keras' LossScaleOptimizer: the loss is multiplied
// by a scale, so that small gradients do not underflow in float16, and
// gradients are divided by the scale.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/sums.h"

namespace paceline::cuda {

// In GPU memory.
struct LossScale {
  // That of the first step.
  float first_scale = 32768;
  // After so many steps with finite gradients the scale doubles.
  int64_t growth_steps = 2000;
  // The scale is first_scale · 2^doublings. It never falls below 1.
  int32_t doublings = 0;
  // Steps with finite gradients since the scale changed.
  int64_t finite_steps = 0;
  // Whether a gradient of the current step is NaN or infinite.
  int32_t has_overflow = 0;
  // The current step's loss, which is added to the sums once it is known
  // whether the step is skipped.
  double loss_total = 0;
  double loss_count = 0;

  PACELINE_HOST_DEVICE float scale() const {
    return std::ldexp(first_scale, doublings);
  }
  PACELINE_HOST_DEVICE bool can_fall() const { return scale() >= 2; }
};

// `scale` may be null, which means 1 and no overflow.
PACELINE_HOST_DEVICE inline float ScaleOf(const LossScale* scale) {
  return scale == nullptr ? 1.0f : scale->scale();
}
PACELINE_HOST_DEVICE inline bool HasOverflow(const LossScale* scale) {
  return scale != nullptr && scale->has_overflow != 0;
}

// Whether formulas leave variables and slots as they are.
PACELINE_HOST_DEVICE inline bool SkipsFormulas(const StepValues& step,
                                               const LossScale* scale) {
  return !step.accumulation.updates || HasOverflow(scale);
}

// Writes the factor of each example's loss for its gradient. For each example.
struct WriteGradientScales {
  // The weight of the output to which the loss belongs.
  double weight = 1;
  const StepValues* step = nullptr;
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;
  float* scales = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t example) const {
    scales[example] =
        static_cast<float>(weight * step->gradient_scale * ScaleOf(loss_scale));
  }
};

// Divides gradients by the scale, and sets the overflow flag. For each of
// FourBlocks(count). All indices that set the flag write the same value.
struct UnscaleGradients {
  int64_t count = 0;
  float* gradients = nullptr;
  LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const float factor = 1 / scale->scale();
    FourFloats g = LoadFour(gradients, 4 * block, count);
    bool is_finite = true;
    for (int i = 0; i < 4; ++i) {
      g[i] *= factor;
      // x − x is 0 if and only if x is finite.
      is_finite = is_finite && g[i] - g[i] == 0;
    }
    if (!is_finite) scale->has_overflow = 1;
    StoreFour(g, gradients, 4 * block, count);
  }
};

// Sets gradients to 0 in a step with an overflow. For each of
// FourBlocks(count).
struct DropOverflow {
  int64_t count = 0;
  float* gradients = nullptr;
  const LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    if (!HasOverflow(scale)) return;
    StoreFour({}, gradients, 4 * block, count);
  }
};

// Adds the step's loss to the sums. A loss that is not finite is left out if
// the step is skipped, since a smaller scale may help. If the scale is already
// the smallest, training has diverged, and the loss is added. For one index.
struct CountLoss {
  LossScale* scale = nullptr;
  double* total = nullptr;
  double* count = nullptr;
  NonfiniteNote note = {};

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    LossScale& s = *scale;
    const bool is_finite = s.loss_total - s.loss_total == 0;
    if (is_finite || s.has_overflow == 0 || !s.can_fall()) {
      *total += s.loss_total;
      *count += s.loss_count;
      note.Note(*total);
    }
    s.loss_total = 0;
    s.loss_count = 0;
  }
};

// Sets the scale for the next step: halves it after an overflow, doubles it
// after growth_steps steps without one. For one index.
struct AdaptLossScale {
  LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    LossScale& s = *scale;
    ++s.finite_steps;
    if (s.has_overflow != 0) {
      s.finite_steps = 0;
      if (s.can_fall()) --s.doublings;
    } else if (s.finite_steps >= s.growth_steps) {
      s.finite_steps = 0;
      ++s.doublings;
    }
    s.has_overflow = 0;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_
