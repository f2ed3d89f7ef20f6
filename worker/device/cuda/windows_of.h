// Converts the window of an operation into that of the kernels.
#ifndef PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_
#define PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_

#include <cstdint>

#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"
#include "worker/device/cuda/kernels/image_windows.h"

namespace paceline::cuda {

inline AxisWindow AxisWindowOf(const op::WindowAxis& window, int64_t input) {
  return {.input = input,
          .output = window.OutputSize(input),
          .size = window.size,
          .stride = window.stride,
          .dilation = window.dilation,
          .pad_before = window.pad_before};
}

// `images`: (batch, height, width, channels).
inline ImageWindows WindowsOf(const op::Window2D& window, const Shape& images) {
  return {AxisWindowOf(window[0], images[1]),
          AxisWindowOf(window[1], images[2]), images[3]};
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_WINDOWS_OF_H_
