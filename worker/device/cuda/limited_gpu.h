// Limits the GPU memory that a process allocates.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_
#define PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_

#include <cstdint>
#include <memory>

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Wraps `gpu`: an Allocate that would exceed `limit_bytes` in total fails with
// ResourceExhausted, which names the limit. The limit does not include memory
// that CUDA itself, the handles of its libraries, and the measuring of
// convolutions use.
std::unique_ptr<Gpu> LimitMemory(std::unique_ptr<Gpu> gpu, int64_t limit_bytes);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_
