// Explains the error of a program for which GPU memory is too small.
#ifndef PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_
#define PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_

#include "absl/status/status.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/device.h"

namespace paceline::cuda {

// Adds to `error`, which creating the program of `spec` has returned: the layer
// that needs the most memory, and the largest batch size that would fit. Plans
// programs for smaller batches, without allocating or measuring. Call it after
// freeing the program's memory. Adds nothing if the GPU has enough memory, so
// that another memory was short.
absl::Status ExplainFullMemory(const absl::Status& error,
                               const ProgramSpec& spec, CudaState& state);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_
