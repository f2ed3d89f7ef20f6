// Conversions of elements.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Source and destination may have different types. For each of
// FourBlocks(count).
struct CopyElements {
  int64_t count = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    StoreFour(LoadFour(from, 4 * block, count), to, 4 * block, count);
  }
};

// Rounds towards 0. For each element.
struct CastToInt32 {
  ConstValues from{};
  int32_t* to = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to[i] = static_cast<int32_t>(from[i]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
