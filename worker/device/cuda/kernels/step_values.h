// What changes from step to step: kernels read it in device memory, so that a
// captured graph serves all steps.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_

#include <cstdint>

#include "common/optimizer/formula.h"

namespace paceline::cuda {

// As Batch (device.h) has them.
struct StepValues {
  int64_t first_example = 0;
  int64_t epoch = 0;
  // 1 / loss_divisor.
  double gradient_scale = 1;
  double regularization_scale = 1;
  // Where the device updates the variables: Optimizer::ScalarsOf.
  StepScalars optimizer = {};
  // Batch::step.
  int64_t number = 1;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_
