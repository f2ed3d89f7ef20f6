// The gradients of a convolution's kernel and bias as matrix products: the
// im2col matrix, transposed · gradient, over parts of the batch whose matrices
// stay in the caches.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_

#include "worker/device/cpu/kernels/im2col.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// Adds the operation that writes `kernel_gradient`, (kh, kw, channels, filters)
// in memory, and `bias_gradient` unless it is null. `input` is (batch, h, w,
// channels), `gradient` (batch, h', w', filters).
void AddKernelGradient(const Im2ColGeometry& geometry, const Tensor* input,
                       const Tensor* gradient, const Tensor* kernel_gradient,
                       const Tensor* bias_gradient, ProgramBuilder& builder);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_
