// The update of a variable by a formula with norms
// (common/optimizer/formula.h), in three launches: first the slots, with sums
// of squares in parts; then the trust ratio; then the variable. In a step with
// an overflow, or of accumulation alone, nothing changes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_BY_NORMS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_BY_NORMS_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/slot_update.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// Updates the slots of elements part, part + parts, …; sums[part] = Σ w² and
// sums[parts + part] = Σ r² over these elements, where w is the decayed weight
// and r the direction. For each part.
template <typename Formula>
struct UpdateSlots {
  int64_t count = 0;
  int64_t parts = 1;
  const float* variable = nullptr;
  SlotUpdate<Formula> update;
  WeightDecay decay = {};
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t part) const {
    if (SkipsFormulas(*update.step, update.loss_scale)) return;
    const StepScalars& scalars = update.step->optimizer;
    double norm = 0;
    double direction_norm = 0;
    for (int64_t i = part; i < count; i += parts) {
      float element[Formula::kSlotCount];
      update.Load(i, element);
      update.formula.UpdateSlots(scalars, update.gradient(i), element);
      update.Store(element, i);
      const double w = decay(*update.step, variable[i]);
      const double r = update.formula.Direction(scalars, element);
      norm += w * w;
      direction_norm += r * r;
    }
    sums[part] = norm;
    sums[parts + part] = direction_norm;
  }
};

// *rate = step[0] · TrustRatio of the norms. For one index.
template <typename Formula>
struct WriteUpdateRate {
  int64_t parts = 1;
  const double* sums = nullptr;
  const StepValues* step = nullptr;
  Formula formula = {};
  float* rate = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    double norm = 0;
    double direction_norm = 0;
    for (int64_t part = 0; part < parts; ++part) {
      norm += sums[part];
      direction_norm += sums[parts + part];
    }
    *rate = static_cast<float>(
        step->optimizer[0] *
        formula.TrustRatio(std::sqrt(norm), std::sqrt(direction_norm)));
  }
};

// Decays the weight; then w -= *rate · r. For each element.
template <typename Formula>
struct MoveByDirection {
  float* variable = nullptr;
  const float* slots[Formula::kSlotCount] = {};
  const StepValues* step = nullptr;
  Formula formula = {};
  WeightDecay decay = {};
  const LossScale* loss_scale = nullptr;
  const float* rate = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    if (SkipsFormulas(*step, loss_scale)) return;
    float element[Formula::kSlotCount];
    for (int s = 0; s < Formula::kSlotCount; ++s) element[s] = slots[s][i];
    variable[i] = decay(*step, variable[i]) -
                  *rate * formula.Direction(step->optimizer, element);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_BY_NORMS_H_
