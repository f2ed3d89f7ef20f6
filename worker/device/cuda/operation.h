// The operations of a program on a GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_
#define PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_

#include "absl/functional/any_invocable.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/program/tensor.h"

namespace paceline::cuda {

// The tensor's current address and type; null: no address.
inline Values ValuesOf(const Tensor* tensor) {
  return tensor == nullptr ? Values() : Values(tensor->data(), tensor->type);
}

// Enqueues the operation's work.
using Operation = absl::AnyInvocable<void(Queue&)>;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPERATION_H_
