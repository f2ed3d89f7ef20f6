// A convolution whose channels and filters fall into groups: filters read their
// group. The kernel is (kernel height, kernel width, channels of a group,
// filters).
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUPED_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUPED_CONVOLUTION_H_

#include <cstdint>

#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

struct ConvolutionGroups {
  // Of the input, with its channels.
  ImageWindows windows;
  int64_t groups = 1;
  int64_t filters = 0;

  // Of one group.
  PACELINE_HOST_DEVICE int64_t channel_count() const {
    return windows.channels / groups;
  }
  PACELINE_HOST_DEVICE int64_t filter_count() const { return filters / groups; }

  // Where the kernel has element k of the window, channel c of the group and
  // the filter.
  PACELINE_HOST_DEVICE int64_t Kernel(int64_t k, int64_t c,
                                      int64_t filter) const {
    return (k * channel_count() + c) * filters + filter;
  }
  PACELINE_HOST_DEVICE int64_t Output(int64_t example, int64_t oy, int64_t ox,
                                      int64_t filter) const {
    return ((example * windows.y.output + oy) * windows.x.output + ox) *
               filters +
           filter;
  }
};

// For each output.
struct ConvolveGroups {
  ConvolutionGroups groups;
  const float* inputs = nullptr;
  const float* kernel = nullptr;
  float* outputs = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageWindows& windows = groups.windows;
    const ImageElement at =
        ElementAt(i, windows.y.output, windows.x.output, groups.filters);
    const int64_t first =
        at.channel / groups.filter_count() * groups.channel_count();
    float sum = 0;
    windows.ForEachInput(at.y, at.x, [&](int64_t k, int64_t iy, int64_t ix) {
      for (int64_t c = 0; c < groups.channel_count(); ++c) {
        sum += inputs[windows.Input(at.example, iy, ix, first + c)] *
               kernel[groups.Kernel(k, c, at.channel)];
      }
    });
    outputs[i] = sum;
  }
};

// For each input.
struct ConvolveGroupsInputGradient {
  ConvolutionGroups groups;
  const float* kernel = nullptr;
  const float* output_gradients = nullptr;
  float* input_gradients = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageWindows& windows = groups.windows;
    const ImageElement at =
        ElementAt(i, windows.y.input, windows.x.input, windows.channels);
    const int64_t c = at.channel % groups.channel_count();
    const int64_t first =
        at.channel / groups.channel_count() * groups.filter_count();
    float sum = 0;
    windows.ForEachOutput(at.y, at.x, [&](int64_t k, int64_t oy, int64_t ox) {
      for (int64_t f = first; f < first + groups.filter_count(); ++f) {
        sum += output_gradients[groups.Output(at.example, oy, ox, f)] *
               kernel[groups.Kernel(k, c, f)];
      }
    });
    input_gradients[i] = sum;
  }
};

// sums[part, element of the kernel], over the output pixels part, part + parts,
// … For each of parts · elements.
struct ConvolveGroupsKernelGradient {
  ConvolutionGroups groups;
  // Of the outputs of the batch.
  int64_t pixels = 0;
  int64_t parts = 1;
  const float* inputs = nullptr;
  const float* output_gradients = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = groups.windows;
    const int64_t elements =
        y.size * x.size * groups.channel_count() * groups.filters;
    const int64_t filter = i % groups.filters;
    const int64_t c = i / groups.filters % groups.channel_count();
    const int64_t k = i % elements / groups.filters / groups.channel_count();
    const int64_t channel =
        filter / groups.filter_count() * groups.channel_count() + c;
    double sum = 0;
    for (int64_t pixel = i / elements; pixel < pixels; pixel += parts) {
      const ImageElement at =
          ElementAt(pixel, y.output, x.output, /*channels=*/1);
      const int64_t iy = y.InputOf(at.y, k / x.size);
      const int64_t ix = x.InputOf(at.x, k % x.size);
      if (iy < 0 || ix < 0) continue;
      sum += inputs[groups.windows.Input(at.example, iy, ix, channel)] *
             output_gradients[pixel * groups.filters + filter];
    }
    sums[i] = sum;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_GROUPED_CONVOLUTION_H_
