// How the CPU device computes losses: value and gradient in one pass.
#ifndef PACELINE_WORKER_DEVICE_CPU_LOSSES_LOSS_KERNEL_H_
#define PACELINE_WORKER_DEVICE_CPU_LOSSES_LOSS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/model/loss.h"
#include "common/tensor/shape.h"

namespace paceline::cpu {

// The examples [begin, end) of a batch.
struct LossRange {
  int64_t begin = 0;
  int64_t end = 0;
  // Of the whole batch, as the loss reads them.
  const float* outputs = nullptr;
  const std::byte* labels = nullptr;
  // The loss of each example of the batch.
  double* values = nullptr;
  // Of the whole batch: gradient_scale · d(loss of the example) / d(outputs).
  // Null if it is not wanted.
  float* gradients = nullptr;
  double gradient_scale = 1;
};

// Keras caps probabilities this far from 0 and 1 before it takes logarithms.
inline constexpr float kProbabilityMargin = 1e-7f;

// Immutable; thread-safe.
class LossKernel {
 public:
  virtual ~LossKernel() = default;
  virtual void Run(const LossRange& range) const = 0;
};

// For outputs of shape `output`, which `loss` accepts and takes for logits if
// `from_logits`. Unimplemented names a loss that the device cannot compute.
absl::StatusOr<std::unique_ptr<const LossKernel>> MakeLossKernel(
    const Loss& loss, bool from_logits, const Shape& output);

// Those that the device computes, each in a file of its name.
using LossKernelFactory = std::unique_ptr<const LossKernel>(
    const Loss& loss, bool from_logits, const Shape& output);
LossKernelFactory MakeBinaryCrossentropy;
LossKernelFactory MakeCategoricalCrossentropy;
LossKernelFactory MakeMeanSquaredError;
LossKernelFactory MakeSparseCategoricalCrossentropy;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_LOSSES_LOSS_KERNEL_H_
