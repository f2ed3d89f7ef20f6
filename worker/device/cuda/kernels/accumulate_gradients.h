// The accumulation of the gradients of a contiguous range of variables in one
// launch.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACCUMULATE_GRADIENTS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACCUMULATE_GRADIENTS_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/optimizer/gradient_accumulation.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// Accumulates gradients (common/optimizer/gradient_accumulation.h). Those of a
// step with an overflow count as zeros. For each of FourBlocks(count).
struct AccumulateGradients {
  int64_t count = 0;
  float* gradients = nullptr;
  float* accumulators = nullptr;
  const StepValues* step = nullptr;
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const Accumulation accumulation = step->accumulation;
    FourFloats g = {};
    if (!HasOverflow(loss_scale)) g = LoadFour(gradients, 4 * block, count);
    FourFloats accumulator = LoadFour(accumulators, 4 * block, count);
    for (int i = 0; i < 4; ++i) {
      AccumulateGradient(accumulation, g[i], accumulator[i]);
    }
    StoreFour(g, gradients, 4 * block, count);
    StoreFour(accumulator, accumulators, 4 * block, count);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ACCUMULATE_GRADIENTS_H_
