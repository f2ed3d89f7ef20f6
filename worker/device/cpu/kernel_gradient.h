// The gradients of a convolution's kernel and bias by im2col: the transposed
// im2col matrix times the output's gradient, in parts of the batch whose
// matrices fit in the caches.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_

#include "worker/device/cpu/kernels/im2col.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// Adds the operation that writes `kernel_gradient`, shape (kh, kw, channels,
// filters), and `bias_gradient` unless it is null. `input` is (batch, h, w,
// channels), `gradient` (batch, h', w', filters).
void AddKernelGradient(const Im2ColGeometry& geometry, const Tensor* input,
                       const Tensor* gradient, const Tensor* kernel_gradient,
                       const Tensor* bias_gradient, ProgramBuilder& builder);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNEL_GRADIENT_H_
