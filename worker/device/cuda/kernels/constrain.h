// Constraints of variables at the end of an update
// (common/optimizer/constrain.h). In a step with an overflow nothing changes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_CONSTRAIN_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_CONSTRAIN_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "common/optimizer/constrain.h"
#include "worker/device/cuda/kernels/loss_scale.h"

namespace paceline::cuda {

// Brings the norm of a group within the bounds. For each group.
struct ConstrainNorms {
  NormGroups groups;
  NormBounds bounds;
  float* variable = nullptr;
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t group) const {
    if (HasOverflow(loss_scale)) return;
    double sum = 0;
    for (int64_t i = 0; i < groups.group_size; ++i) {
      const double w = variable[groups.ElementOf(group, i)];
      sum += w * w;
    }
    const double factor = bounds.FactorOf(std::sqrt(sum));
    for (int64_t i = 0; i < groups.group_size; ++i) {
      float& w = variable[groups.ElementOf(group, i)];
      w = static_cast<float>(w * factor);
    }
  }
};

// w = max(w, 0); NaN stays. For each element.
struct ConstrainToNonNegative {
  float* variable = nullptr;
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    if (HasOverflow(loss_scale)) return;
    if (variable[i] < 0) variable[i] = 0;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_CONSTRAIN_H_
