// Tensors of a program.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_TENSOR_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_TENSOR_H_

#include <cstddef>
#include <cstdint>

#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {

// A block of the device's memory. A block in the arena gets its address when
// its program is placed, one of the batch in each step. So operations must read
// addresses when they run.
struct Memory {
  std::byte* data = nullptr;
};

// Values in C order; images are (batch, height, width, channels). Several
// tensors may share a memory block.
struct Tensor {
  // Includes the batch axis, if there is one.
  Shape shape;
  const Memory* memory = nullptr;
  // kUint8 for untyped memory.
  DataType type = DataType::kFloat32;

  std::byte* data() const { return memory->data; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory->data);
  }
  // The type must be float32.
  float* floats() const {
    CHECK(type == DataType::kFloat32) << DataTypeName(type);
    return as<float>();
  }
  double* doubles() const { return as<double>(); }
  int64_t count() const { return NumElements(shape); }
};

// For optional tensors of a layer.
inline float* FloatsOrNull(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->floats();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_TENSOR_H_
