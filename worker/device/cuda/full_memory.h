// What to do where a program finds no room on a GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_
#define PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_

#include "absl/status/status.h"
#include "worker/device/cuda/cuda_state.h"
#include "worker/device/device.h"

namespace paceline::cuda {

// Adds to `error`, with which the program of `spec` ended, the layer that takes
// the most memory, and the largest batch whose program would fit: plans those
// of smaller batches, without allocating and without measuring. To be called
// when the program's memory has been freed. Adds nothing where the GPU has room
// for it: another memory was full.
absl::Status ExplainFullMemory(const absl::Status& error,
                               const ProgramSpec& spec, CudaState& state);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_FULL_MEMORY_H_
