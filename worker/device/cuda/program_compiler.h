// From a model to the operations of the CUDA device.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PROGRAM_COMPILER_H_
#define PACELINE_WORKER_DEVICE_CUDA_PROGRAM_COMPILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/device.h"

namespace paceline::cuda {

// See Device::Supports.
absl::Status CheckModel(const ProgramSpec& spec);

// Unimplemented names the layer, the loss or the metric that the device cannot
// compute.
absl::StatusOr<ProgramParts> CompileProgram(const ProgramSpec& spec,
                                            CudaState& state,
                                            Planning planning);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PROGRAM_COMPILER_H_
