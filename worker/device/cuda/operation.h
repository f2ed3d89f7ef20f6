// The operations of a program on a GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_

#include "absl/functional/any_invocable.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Enqueues what it does.
using Operation = absl::AnyInvocable<void(Queue&)>;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_
