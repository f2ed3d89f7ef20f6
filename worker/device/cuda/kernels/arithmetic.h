// Elementwise arithmetic. One index per element.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Source and destination may have different types.
struct CopyElements {
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const { to.Set(i, from[i]); }
};

// Rounds towards 0.
struct CastToInt32 {
  ConstValues from{};
  int32_t* to = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to[i] = static_cast<int32_t>(from[i]);
  }
};

// The sums may overwrite `a` or `b`.
struct AddElements {
  ConstValues a{};
  ConstValues b{};
  Values sums{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    sums.Set(i, a[i] + b[i]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
