// Tensors as arguments of kernels that support several element types.
#ifndef PACELINE_WORKER_DEVICE_CPU_STORED_TENSOR_H_
#define PACELINE_WORKER_DEVICE_CPU_STORED_TENSOR_H_

#include "worker/device/cpu/kernels/stored.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

inline ConstStored ReadFrom(const Tensor* tensor) {
  return {tensor->data(), tensor->type};
}
inline Stored WriteTo(const Tensor* tensor) {
  return {tensor->data(), tensor->type};
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_STORED_TENSOR_H_
