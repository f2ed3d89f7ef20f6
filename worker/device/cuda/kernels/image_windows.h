// How a window slides over a batch of images in (batch, height, width,
// channels).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_

#include <compare>
#include <cstdint>

#include "worker/device/host_device.h"

namespace paceline::cuda {

// Along one axis: output o reads the inputs o · stride - pad_before + k ·
// dilation for k in [0, size), as far as they are in [0, input).
struct AxisWindow {
  int64_t input = 0;
  int64_t output = 0;
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;

  // The input that element k of window o reads; -1: padding.
  PACELINE_HOST_DEVICE int64_t InputOf(int64_t o, int64_t k) const {
    const int64_t i = o * stride - pad_before + k * dilation;
    return i < input ? (i < 0 ? -1 : i) : -1;
  }
  // The window whose element k reads input i; -1: none.
  PACELINE_HOST_DEVICE int64_t OutputOf(int64_t i, int64_t k) const {
    const int64_t start = i + pad_before - k * dilation;
    if (start < 0 || start % stride != 0) return -1;
    return start / stride < output ? start / stride : -1;
  }

  friend auto operator<=>(const AxisWindow&, const AxisWindow&) = default;
};

struct ImageWindows {
  AxisWindow y;
  AxisWindow x;
  int64_t channels = 0;

  // Indices into a batch of inputs and of outputs.
  PACELINE_HOST_DEVICE int64_t Input(int64_t example, int64_t iy, int64_t ix,
                                     int64_t channel) const {
    return ((example * y.input + iy) * x.input + ix) * channels + channel;
  }
  PACELINE_HOST_DEVICE int64_t Output(int64_t example, int64_t oy, int64_t ox,
                                      int64_t channel) const {
    return ((example * y.output + oy) * x.output + ox) * channels + channel;
  }

  friend auto operator<=>(const ImageWindows&, const ImageWindows&) = default;
};

// An element of a batch of images.
struct ImageElement {
  int64_t example;
  int64_t y;
  int64_t x;
  int64_t channel;
};
PACELINE_HOST_DEVICE inline ImageElement ElementAt(int64_t index,
                                                   int64_t height,
                                                   int64_t width,
                                                   int64_t channels) {
  const int64_t pixel = index / channels;
  return {pixel / width / height, pixel / width % height, pixel % width,
          index % channels};
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_
