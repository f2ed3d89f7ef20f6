// Tensors of a program, and the operations on them.
#ifndef PACELINE_WORKER_DEVICE_CPU_TENSOR_H_
#define PACELINE_WORKER_DEVICE_CPU_TENSOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "common/tensor/shape.h"
#include "worker/device/device.h"

namespace paceline::cpu {

// A block of memory. One in the arena gets its address when its program is
// planned, the batch with each step: operations read addresses when they run.
struct Memory {
  std::byte* data = nullptr;
};

// Values in C order; images as (batch, height, width, channels). Several
// tensors may share a block.
struct Tensor {
  // With the batch, where there is one.
  Shape shape;
  const Memory* memory = nullptr;

  std::byte* data() const { return memory->data; }
  float* floats() const { return reinterpret_cast<float*>(memory->data); }
  int64_t count() const { return NumElements(shape); }
};

// What an operation knows of the step.
struct Step {
  Batch batch;
  // Sums that the step adds to.
  MetricSums* metrics = nullptr;
};

using Operation = absl::AnyInvocable<void(const Step&)>;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_TENSOR_H_
