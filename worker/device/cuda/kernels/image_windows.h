// Positions of a window on a batch of images in (batch, height, width,
// channels).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_

#include <compare>
#include <cstdint>

#include "common/base/host_device.h"

namespace paceline::cuda {

// Along one axis: output o reads the inputs o · stride - pad_before + k ·
// dilation for k in [0, size), except those outside [0, input).
struct AxisWindow {
  int64_t input = 0;
  int64_t output = 0;
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;

  // The input for element k of window o; -1: padding.
  PACELINE_HOST_DEVICE int64_t InputOf(int64_t o, int64_t k) const {
    const int64_t i = o * stride - pad_before + k * dilation;
    return i < input ? (i < 0 ? -1 : i) : -1;
  }
  // Calls visit(k, o) for each window o whose element k reads input i, in the
  // order of k. Without dilation it needs a single division; on a GPU a
  // division takes as long as dozens of other operations.
  template <typename Visit>
  PACELINE_HOST_DEVICE void ForEachOutput(int64_t i, const Visit& visit) const {
    const int64_t last = (i + pad_before) / stride;
    for (int64_t o = last < output ? last : output - 1; o >= 0; --o) {
      const int64_t distance = i + pad_before - o * stride;
      if (distance > (size - 1) * dilation) return;
      if (dilation == 1) {
        visit(distance, o);
      } else if (distance % dilation == 0) {
        visit(distance / dilation, o);
      }
    }
  }
  // Elements of window o that are not padding.
  PACELINE_HOST_DEVICE int64_t CoveredCount(int64_t o) const {
    const int64_t begin = o * stride - pad_before;
    const int64_t last = begin + (size - 1) * dilation;
    const int64_t before = begin < 0 ? (dilation - 1 - begin) / dilation : 0;
    const int64_t behind = last < input ? 0 : (last - input) / dilation + 1;
    return before + behind < size ? size - before - behind : 0;
  }

  friend auto operator<=>(const AxisWindow&, const AxisWindow&) = default;
};

// The position of an element in a batch of images.
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

struct ImageWindows {
  AxisWindow y;
  AxisWindow x;
  int64_t channels = 0;

  // Index into a batch of inputs, or of outputs.
  PACELINE_HOST_DEVICE int64_t Input(int64_t example, int64_t iy, int64_t ix,
                                     int64_t channel) const {
    return ((example * y.input + iy) * x.input + ix) * channels + channel;
  }
  PACELINE_HOST_DEVICE int64_t Output(int64_t example, int64_t oy, int64_t ox,
                                      int64_t channel) const {
    return ((example * y.output + oy) * x.output + ox) * channels + channel;
  }

  // Calls visit(k, iy, ix) for each element k of window (oy, ox) that is not
  // padding, in C order.
  template <typename Visit>
  PACELINE_HOST_DEVICE void ForEachInput(int64_t oy, int64_t ox,
                                         const Visit& visit) const {
    for (int64_t ky = 0; ky < y.size; ++ky) {
      const int64_t iy = y.InputOf(oy, ky);
      if (iy < 0) continue;
      for (int64_t kx = 0; kx < x.size; ++kx) {
        const int64_t ix = x.InputOf(ox, kx);
        if (ix >= 0) visit(ky * x.size + kx, iy, ix);
      }
    }
  }

  // Calls visit(k, oy, ox) for each window (oy, ox) whose element k reads pixel
  // (iy, ix), in the order of k.
  template <typename Visit>
  PACELINE_HOST_DEVICE void ForEachOutput(int64_t iy, int64_t ix,
                                          const Visit& visit) const {
    y.ForEachOutput(iy, [&](int64_t ky, int64_t oy) {
      x.ForEachOutput(
          ix, [&](int64_t kx, int64_t ox) { visit(ky * x.size + kx, oy, ox); });
    });
  }

  // Elements of window (oy, ox) that are not padding.
  PACELINE_HOST_DEVICE int64_t CoveredCount(int64_t oy, int64_t ox) const {
    return y.CoveredCount(oy) * x.CoveredCount(ox);
  }

  friend auto operator<=>(const ImageWindows&, const ImageWindows&) = default;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_IMAGE_WINDOWS_H_
