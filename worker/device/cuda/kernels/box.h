// Boxes of tensors (worker/device/box_axes.h). An index has four adjacent
// elements of the box, or of the larger tensor: where the box's rows begin and
// end between such fours, they are copied at once and their place is computed
// once; elsewhere one by one.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/box_axes.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Whether each four adjacent elements from a multiple of 4 on are adjacent in
// the box as well as in the larger tensor, or outside the box altogether.
PACELINE_HOST_DEVICE inline bool HasWholeFours(const BoxAxes& box) {
  return (box.sizes[0] | box.starts[0] | box.whole_sizes[0]) % 4 == 0;
}

// For each of FourBlocks(count), where count is of the box. Here and below,
// source and destination may have different types.
struct ReadBox {
  BoxAxes box;
  int64_t count = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const int64_t begin = 4 * block;
    if (HasWholeFours(box)) {
      const int64_t at = box.WholeIndex(begin);
      StoreFour(LoadFour(from, at, at + 4), to, begin, count);
      return;
    }
    for (int64_t i = begin; i < begin + 4 && i < count; ++i) {
      to.Set(i, from[box.WholeIndex(i)]);
    }
  }
};

// For each of FourBlocks(count), where count is of the box.
struct WriteBox {
  BoxAxes box;
  int64_t count = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const int64_t begin = 4 * block;
    if (HasWholeFours(box)) {
      const int64_t at = box.WholeIndex(begin);
      StoreFour(LoadFour(from, begin, count), to, at, at + 4);
      return;
    }
    for (int64_t i = begin; i < begin + 4 && i < count; ++i) {
      to.Set(box.WholeIndex(i), from[i]);
    }
  }
};

// For each of FourBlocks(count), where count is of the larger tensor: copies
// the box's elements, or writes the value.
struct PadBox {
  BoxAxes box;
  int64_t count = 0;
  float value = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    const int64_t begin = 4 * block;
    if (HasWholeFours(box)) {
      const int64_t at = box.BoxIndex(begin);
      const FourFloats padding = {{value, value, value, value}};
      StoreFour(at < 0 ? padding : LoadFour(from, at, at + 4), to, begin,
                count);
      return;
    }
    for (int64_t i = begin; i < begin + 4 && i < count; ++i) {
      const int64_t at = box.BoxIndex(i);
      to.Set(i, at < 0 ? value : from[at]);
    }
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BOX_H_
