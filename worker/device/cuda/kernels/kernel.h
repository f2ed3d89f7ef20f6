// All of our own kernels.
//
// The body of a kernel is a function of an index, and of blocks of data that it
// holds pointers to. The same body runs on a GPU, one thread an index, and on
// the CPU, where tests compare it with the reference. No two indices write the
// same element, and each adds up in an order of its own: a repeat gives the
// same bits, however the indices are spread.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_

#include <variant>

#include "worker/device/cuda/kernels/optimizer.h"

namespace paceline::cuda {

using Kernel = std::variant<SgdUpdate, AdamUpdate>;

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_KERNEL_H_
