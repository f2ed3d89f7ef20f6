// ArgMax. For each row.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARG_MAX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARG_MAX_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/arg_max.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

struct ArgMaxOfRows {
  // Elements per row.
  int64_t size = 0;
  ConstValues inputs{};
  int32_t* outputs = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t row) const {
    outputs[row] = ArgMaxOf(inputs.From(row * size), size);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARG_MAX_H_
