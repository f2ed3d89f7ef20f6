// A convolution as a matrix product: the patches of the images that its windows
// read, one a row, (kernel height, kernel width, channels) in the order of a
// Keras kernel.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_PATCHES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_PATCHES_H_

#include <cstdint>

#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

// For each element of the patches. Padding is zeros.
struct GatherPatches {
  ImageWindows windows;
  const float* images = nullptr;
  float* patches = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = windows;
    const int64_t patch_size = y.size * x.size * channels;
    const ImageElement output = ElementAt(i / patch_size, y.output, x.output,
                                          /*channels=*/1);
    const int64_t element = i % patch_size / channels;
    const int64_t iy = y.InputOf(output.y, element / x.size);
    const int64_t ix = x.InputOf(output.x, element % x.size);
    patches[i] =
        iy < 0 || ix < 0
            ? 0.0f
            : images[windows.Input(output.example, iy, ix, i % channels)];
  }
};

// For each element of the images: the sum of what it is in the patches.
struct SumPatches {
  ImageWindows windows;
  const float* patches = nullptr;
  float* images = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.InputAt(i);
    const int64_t window_size = windows.y.size * windows.x.size;
    float sum = 0;
    windows.ForEachOutput(at.y, at.x, [&](int64_t k, int64_t oy, int64_t ox) {
      const int64_t pixel = windows.Output(at.example, oy, ox, 0);
      sum += patches[pixel * window_size + k * windows.channels + at.channel];
    });
    images[i] = sum;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_PATCHES_H_
