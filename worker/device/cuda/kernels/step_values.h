// Values that change from step to step. Kernels read them from GPU memory, so
// that one captured graph serves all steps.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_

#include <cstdint>

#include "common/optimizer/formula.h"
#include "common/optimizer/gradient_accumulation.h"
#include "common/optimizer/moving_average.h"

namespace paceline::cuda {

// Fields as in Batch (device.h).
struct StepValues {
  int64_t first_example = 0;
  int64_t epoch = 0;
  // 1 / loss_divisor.
  double gradient_scale = 1;
  double regularization_scale = 1;
  // If the device updates the variables: UpdateStep::learning_rate and
  // accumulation, Optimizer::ScalarsOf and Optimizer::AveragingOf.
  double learning_rate = 0;
  Accumulation accumulation = {};
  StepScalars optimizer = {};
  Averaging averaging = {};
  // Batch::step.
  int64_t number = 1;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_STEP_VALUES_H_
