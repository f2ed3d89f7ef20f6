// A matrix with its dimensions swapped.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_

#include <cstdint>

#include "worker/device/host_device.h"

namespace paceline::cuda {

// For each element of `to` (columns, rows), out of `from` (rows, columns).
struct Transpose {
  int64_t rows = 0;
  int64_t columns = 0;
  const float* from = nullptr;
  float* to = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to[i] = from[i % rows * columns + i / rows];
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_
