// Kernels for the update of a matrix (common/optimizer/formula.h), beside
// matrix products. In a step with an overflow, or of accumulation alone,
// nothing changes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_MATRIX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_MATRIX_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/optimizer/newton_schulz.h"
#include "worker/device/cuda/kernels/clipping.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/slot_update.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/update_variables.h"

namespace paceline::cuda {

// Updates the slots, and writes the direction. For each element.
template <typename Formula>
struct FindDirection {
  SlotUpdate<Formula> update;
  float* direction = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    if (SkipsFormulas(*update.step, update.loss_scale)) return;
    float element[Formula::kSlotCount];
    update.Load(i, element);
    direction[i] = update.formula.UpdateSlots(update.step->optimizer,
                                              update.gradient(i), element);
    update.Store(element, i);
  }
};

// *factor = 1 / (sqrt(Σ sums) + 1e-7). For one index.
struct InvertNorm {
  int64_t parts = 0;
  const double* sums = nullptr;
  float* factor = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    *factor = static_cast<float>(
        1 / (NormOf(sums, parts) + kOrthogonalizationEpsilon));
  }
};

// y = a · x + b · y. For each element.
struct CombineElements {
  float a = 0;
  const float* x = nullptr;
  float b = 0;
  float* y = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    y[i] = a * x[i] + b * y[i];
  }
};

// Decays the variable, and moves it by the orthogonal factor of its direction.
// For each element.
template <typename Formula>
struct MoveByFactor {
  float* variable = nullptr;
  const float* factor = nullptr;
  const StepValues* step = nullptr;
  Formula formula = {};
  WeightDecay decay = {};
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    if (SkipsFormulas(*step, loss_scale)) return;
    float& w = variable[i];
    w = decay(*step, w);
    formula.Move(step->optimizer, factor[i], w);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_UPDATE_MATRIX_H_
