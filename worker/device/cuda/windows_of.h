// A layer's windows in the terms of the kernels.
#ifndef PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_
#define PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_

#include <array>

#include "common/model/window.h"
#include "common/tensor/shape.h"
#include "worker/device/cuda/kernels/image_windows.h"

namespace paceline::cuda {

inline AxisWindow AxisWindowOf(const Window& window, int64_t input) {
  const WindowExtent extent = ExtentOf(window, input);
  return {.input = input,
          .output = extent.output,
          .size = window.size,
          .stride = window.stride,
          .dilation = window.dilation,
          .pad_before = extent.pad_before};
}

// Windows along height and width, over images of shape (height, width,
// channels).
inline ImageWindows WindowsOf(const std::array<Window, 2>& windows,
                              const Shape& image) {
  return {AxisWindowOf(windows[0], image[0]),
          AxisWindowOf(windows[1], image[1]), image[2]};
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_
