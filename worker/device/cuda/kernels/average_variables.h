// The moving averages of a contiguous range of variables in one launch.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_AVERAGE_VARIABLES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_AVERAGE_VARIABLES_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "common/optimizer/moving_average.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/loss_scale.h"
#include "worker/device/cuda/kernels/step_values.h"

namespace paceline::cuda {

// Updates averages (common/optimizer/moving_average.h). In a step with an
// overflow nothing changes, but the first sets the averages. For each of
// FourBlocks(count).
struct AverageVariables {
  int64_t count = 0;
  float* values = nullptr;
  float* averages = nullptr;
  const StepValues* step = nullptr;
  // Null: the loss is not scaled.
  const LossScale* loss_scale = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const Averaging averaging = step->averaging;
    if (HasOverflow(loss_scale) && averaging.momentum > 0) return;
    FourFloats w = LoadFour(values, 4 * block, count);
    FourFloats average = LoadFour(averages, 4 * block, count);
    for (int i = 0; i < 4; ++i) {
      UpdateAverage(averaging, w[i], average[i]);
    }
    StoreFour(w, values, 4 * block, count);
    StoreFour(average, averages, 4 * block, count);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_AVERAGE_VARIABLES_H_
