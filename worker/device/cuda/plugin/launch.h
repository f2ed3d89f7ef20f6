// Launches own kernels on a GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_LAUNCH_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "worker/device/cuda/kernels/kernel.h"

namespace paceline::cuda {

// Enqueues the kernel's body for each index in [0, count). `count` must be at
// least 1.
cudaError_t Launch(int64_t count, const Kernel& kernel, cudaStream_t stream);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_LAUNCH_H_
