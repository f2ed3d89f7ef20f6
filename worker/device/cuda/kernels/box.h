// Boxes of tensors (worker/device/box_axes.h).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/box_axes.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// For each element of the box. Here and below, source and destination may have
// different types.
struct ReadBox {
  BoxAxes box;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to.Set(i, from[box.WholeIndex(i)]);
  }
};

// For each element of the box.
struct WriteBox {
  BoxAxes box;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to.Set(box.WholeIndex(i), from[i]);
  }
};

// For each element of the larger tensor: copies the box's element, or writes
// the value.
struct PadBox {
  BoxAxes box;
  float value = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t index = box.BoxIndex(i);
    to.Set(i, index < 0 ? value : from[index]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_
