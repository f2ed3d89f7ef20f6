// Transposes a matrix, or permutes the axes of a tensor.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/permuted_axes.h"

namespace paceline::cuda {

// For each element of `to` (columns, rows), out of `from` (rows, columns).
struct Transpose {
  int64_t rows = 0;
  int64_t columns = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to.Set(i, from[i % rows * columns + i / rows]);
  }
};

// For each element of `to`.
struct PermuteAxes {
  PermutedAxes axes;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to.Set(i, from[axes.Index(i)]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_TRANSPOSE_H_
