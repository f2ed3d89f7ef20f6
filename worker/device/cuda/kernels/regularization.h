// Gradients and penalties of regularizers.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_REGULARIZATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_REGULARIZATION_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// gradients += scale · d(l1·Σ|w| + l2·Σw²)/dw, times the loss scale. For each
// element.
struct AddPenaltyGradient {
  double l1 = 0;
  double l2 = 0;
  const StepValues* step = nullptr;
  const float* values = nullptr;
  float* gradients = nullptr;
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const double scale = step->regularization_scale * ScaleOf(loss_scale);
    const auto factor1 = static_cast<float>(scale * l1);
    const auto factor2 = static_cast<float>(scale * l2 * 2);
    const float w = values[i];
    const float sign = w > 0 ? 1.0f : (w < 0 ? -1.0f : 0.0f);
    gradients[i] += factor1 * sign + factor2 * w;
  }
};

// sums[part] = the penalty of the elements part, part + parts, … For each part.
struct PenaltySums {
  double l1 = 0;
  double l2 = 0;
  int64_t count = 0;
  int64_t parts = 1;
  const float* values = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t part) const {
    double absolute_sum = 0;
    double square_sum = 0;
    for (int64_t i = part; i < count; i += parts) {
      const double w = values[i];
      absolute_sum += w < 0 ? -w : w;
      square_sum += w * w;
    }
    sums[part] = l1 * absolute_sum + l2 * square_sum;
  }
};

// StepValues::regularization_scale as a tensor. For one index.
struct WriteRegularizationScale {
  const StepValues* step = nullptr;
  float* scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    *scale = static_cast<float>(step->regularization_scale);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_REGULARIZATION_H_
