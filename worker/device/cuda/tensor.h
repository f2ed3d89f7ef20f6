// Tensors of a program, and the operations on them.
#ifndef PACELINE_WORKER_DEVICE_CUDA_TENSOR_H_
#define PACELINE_WORKER_DEVICE_CUDA_TENSOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "common/tensor/shape.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// A block of the GPU's memory. One in the arena gets its address when its
// program is bound to the arena: operations read addresses as they enqueue.
struct Memory {
  std::byte* data = nullptr;
};

// Values in C order; images as (batch, height, width, channels). Several
// tensors may share a block.
struct Tensor {
  // With the batch, where there is one.
  Shape shape;
  const Memory* memory = nullptr;

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory->data);
  }
  float* floats() const { return as<float>(); }
  double* doubles() const { return as<double>(); }
  int64_t count() const { return NumElements(shape); }
};

inline float* FloatsOrNull(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->floats();
}

// Enqueues what it does.
using Operation = absl::AnyInvocable<void(Queue&)>;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_TENSOR_H_
