// The losses that the CUDA device computes.
#ifndef PACELINE_WORKER_DEVICE_CUDA_LOSSES_H_
#define PACELINE_WORKER_DEVICE_CUDA_LOSSES_H_

#include <functional>

#include "absl/status/statusor.h"
#include "common/model/loss.h"
#include "common/tensor/shape.h"
#include "worker/device/cuda/kernels/kernel.h"

namespace paceline::cuda {

// The kernel over the examples of these blocks.
using LossKernel = std::function<Kernel(const LossBlocks& blocks)>;

// `from_logits` as LossInput has it, `output` without the batch. Unimplemented
// names the loss.
absl::StatusOr<LossKernel> MakeLossKernel(const Loss& loss, bool from_logits,
                                          const Shape& output);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_LOSSES_H_
