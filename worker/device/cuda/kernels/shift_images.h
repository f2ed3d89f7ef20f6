// Images cut out of larger ones, or with zeros around them.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_SHIFT_IMAGES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_SHIFT_IMAGES_H_

#include <cstdint>

#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// For each element of `to`, (batch, height, width, channels): pixel (y, x) is
// pixel (y + down, x + right) of `from`, or 0 where that has none.
struct ShiftImages {
  int64_t from_height = 0;
  int64_t from_width = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t down = 0;
  int64_t right = 0;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = ElementAt(i, height, width, channels);
    const int64_t y = at.y + down;
    const int64_t x = at.x + right;
    const bool is_inside =
        y >= 0 && y < from_height && x >= 0 && x < from_width;
    const int64_t row = at.example * from_height + y;
    to.Set(i, is_inside ? from[(row * from_width + x) * channels + at.channel]
                        : 0.0f);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_SHIFT_IMAGES_H_
