// The update of a contiguous range of variables in one launch.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_VARIABLES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_VARIABLES_H_

#include <cstdint>
#include <limits>

#include "common/base/host_device.h"
#include "common/optimizer/weight_decay.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// How a gradient is clipped before an update.
struct GradientClip {
  // Bound of the absolute value; infinity: none.
  float bound = std::numeric_limits<float>::infinity();
  // In GPU memory: a factor for the whole range; null: 1.
  const float* factor = nullptr;

  PACELINE_HOST_DEVICE float operator()(float gradient) const {
    const float capped =
        gradient > bound ? bound : (gradient < -bound ? -bound : gradient);
    return factor == nullptr ? capped : *factor * capped;
  }
};

// What a weight is when its update begins (common/optimizer/weight_decay.h).
struct WeightDecay {
  double decay = 0;

  PACELINE_HOST_DEVICE float operator()(const StepValues& step, float w) const {
    return Decayed(w, static_cast<float>(decay * step.learning_rate));
  }
};

// Applies an optimizer's formula (common/optimizer/formula.h) to a range. In a
// step with an overflow, or of accumulation alone, nothing changes. For each of
// FourBlocks(count).
template <typename Formula>
struct UpdateVariables {
  static constexpr int kTensors = 1 + Formula::kSlotCount;

  int64_t count = 0;
  // The variables, then each slot.
  float* tensors[kTensors] = {};
  const float* gradients = nullptr;
  const StepValues* step = nullptr;
  Formula formula = {};
  GradientClip clip = {};
  WeightDecay decay = {};
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    if (SkipsFormulas(*step, loss_scale)) return;
    const FourFloats g = LoadFour(gradients, 4 * block, count);
    FourFloats fours[kTensors];
    for (int t = 0; t < kTensors; ++t) {
      fours[t] = LoadFour(tensors[t], 4 * block, count);
    }
    for (int i = 0; i < 4; ++i) {
      float element[kTensors];
      for (int t = 0; t < kTensors; ++t) element[t] = fours[t][i];
      element[0] = decay(*step, element[0]);
      formula(step->optimizer, clip(g[i]), element[0], element + 1);
      for (int t = 0; t < kTensors; ++t) fours[t][i] = element[t];
    }
    for (int t = 0; t < kTensors; ++t) {
      StoreFour(fours[t], tensors[t], 4 * block, count);
    }
  }
};

// w += d, for statistics, whose deltas are in the place of gradients. For each
// of FourBlocks(count).
struct DeltasUpdate {
  int64_t count = 0;
  float* values = nullptr;
  const float* deltas = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    FourFloats w = LoadFour(values, 4 * block, count);
    const FourFloats d = LoadFour(deltas, 4 * block, count);
    for (int i = 0; i < 4; ++i) w[i] += d[i];
    StoreFour(w, values, 4 * block, count);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_VARIABLES_H_
