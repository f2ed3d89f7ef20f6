// Dynamic loss scaling, as Keras' LossScaleOptimizer has it: the loss is
// multiplied by a scale, so that small gradients are not 0 in float16, and the
// gradients are divided by it.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/sums.h"

namespace paceline::cuda {

// In device memory; zeros are the state at the start.
struct LossScale {
  static constexpr int kInitialExponent = 15;
  static constexpr int kGrowthSteps = 2000;

  // The scale is 2^(kInitialExponent + doublings), at least 1.
  int32_t doublings = 0;
  // Since the scale changed, those whose gradients were finite.
  int32_t finite_steps = 0;
  // Whether a gradient of the step under way is infinite or no number.
  int32_t has_overflow = 0;
  // What the step adds to the sums of the loss, once it is known whether it is
  // skipped.
  double loss_total = 0;
  double loss_count = 0;

  PACELINE_HOST_DEVICE float scale() const {
    return std::ldexp(1.0f, kInitialExponent + doublings);
  }
  PACELINE_HOST_DEVICE bool can_fall() const {
    return doublings > -kInitialExponent;
  }
};

// `scale` may be null: 1, and no overflow.
PACELINE_HOST_DEVICE inline float ScaleOf(const LossScale* scale) {
  return scale == nullptr ? 1.0f : scale->scale();
}
PACELINE_HOST_DEVICE inline bool HasOverflow(const LossScale* scale) {
  return scale != nullptr && scale->has_overflow != 0;
}

// What the loss of an example is multiplied with before its gradient is taken.
// For each example.
struct WriteGradientScales {
  // Of the output whose loss it is.
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

// Divides by the scale, and notes an overflow. For each of FourBlocks(count).
// All that write the note write the same.
struct UnscaleGradients {
  int64_t count = 0;
  float* gradients = nullptr;
  LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const float factor = 1 / scale->scale();
    FourFloats g = LoadFour(gradients, block, count);
    bool is_finite = true;
    for (int i = 0; i < 4; ++i) {
      g[i] *= factor;
      // A difference that is no number is not 0.
      is_finite = is_finite && g[i] - g[i] == 0;
    }
    if (!is_finite) scale->has_overflow = 1;
    StoreFour(g, gradients, block, count);
  }
};

// Makes gradients 0 in a step with an overflow. For each of FourBlocks(count).
struct DropOverflow {
  int64_t count = 0;
  float* gradients = nullptr;
  const LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    if (!HasOverflow(scale)) return;
    StoreFour({}, gradients, block, count);
  }
};

// Adds the loss of the step to the sums. One that is not finite, in a step that
// is skipped, stays out: a smaller scale mends it. Where there is none left,
// the training has diverged, and it counts. For one index.
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

// The scale of the next step: half after an overflow, twice after kGrowthSteps
// without one. For one index.
struct AdaptLossScale {
  LossScale* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    LossScale& s = *scale;
    ++s.finite_steps;
    if (s.has_overflow != 0) {
      s.finite_steps = 0;
      if (s.can_fall()) --s.doublings;
    } else if (s.finite_steps == LossScale::kGrowthSteps) {
      s.finite_steps = 0;
      ++s.doublings;
    }
    s.has_overflow = 0;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOSS_SCALE_H_
