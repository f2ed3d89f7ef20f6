// A GPU of whose memory no more than so much is used.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_
#define PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_

#include <cstdint>
#include <memory>

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// `gpu`, but an Allocate by which more than `limit_bytes` would be in use fails
// with ResourceExhausted, which names the limit. CUDA itself, its libraries'
// handles, and convolutions while they are measured, take memory beside it.
std::unique_ptr<Gpu> LimitMemory(std::unique_ptr<Gpu> gpu, int64_t limit_bytes);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LIMITED_GPU_H_
