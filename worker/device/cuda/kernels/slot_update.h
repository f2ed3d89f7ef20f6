// Inputs and outputs of kernels that update the slots of a variable before its
// elements (common/optimizer/formula.h: formulas with norms, and for matrices).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SLOT_UPDATE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SLOT_UPDATE_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"
#include "worker/device/cuda/kernels/update_variables.h"

namespace paceline::cuda {

template <typename Formula>
struct SlotUpdate {
  float* slots[Formula::kSlotCount] = {};
  const float* gradients = nullptr;
  const StepValues* step = nullptr;
  Formula formula = {};
  GradientClip clip = {};
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE float gradient(int64_t i) const {
    return clip(gradients[i]);
  }

  // Element i of each slot.
  PACELINE_HOST_DEVICE void Load(int64_t i, float* element) const {
    for (int s = 0; s < Formula::kSlotCount; ++s) element[s] = slots[s][i];
  }
  PACELINE_HOST_DEVICE void Store(const float* element, int64_t i) const {
    for (int s = 0; s < Formula::kSlotCount; ++s) slots[s][i] = element[s];
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SLOT_UPDATE_H_
