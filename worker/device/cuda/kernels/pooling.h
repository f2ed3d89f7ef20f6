// Pooling of images. Forward for each output, backward for each input: an input
// gathers what its windows send, so no sum needs atomics.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_

#include <cstdint>

#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/host_device.h"

namespace paceline::cuda {

struct MaxPool {
  ImageWindows windows;
  const float* inputs = nullptr;
  float* outputs = nullptr;
  // Which element of its window each output is: the first of the largest. Null:
  // not asked for.
  int32_t* chosen = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = windows;
    const ImageElement at = ElementAt(i, y.output, x.output, channels);
    float largest = 0;
    int64_t best = -1;
    for (int64_t k = 0; k < y.size * x.size; ++k) {
      const int64_t iy = y.InputOf(at.y, k / x.size);
      const int64_t ix = x.InputOf(at.x, k % x.size);
      if (iy < 0 || ix < 0) continue;
      const float value = inputs[windows.Input(at.example, iy, ix, at.channel)];
      if (best >= 0 && !(value > largest)) continue;
      largest = value;
      best = k;
    }
    outputs[i] = largest;
    if (chosen != nullptr) chosen[i] = static_cast<int32_t>(best);
  }
};

struct MaxPoolBackward {
  ImageWindows windows;
  const int32_t* chosen = nullptr;
  const float* output_gradients = nullptr;
  float* input_gradients = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = windows;
    const ImageElement at = ElementAt(i, y.input, x.input, channels);
    float sum = 0;
    for (int64_t k = 0; k < y.size * x.size; ++k) {
      const int64_t oy = y.OutputOf(at.y, k / x.size);
      const int64_t ox = x.OutputOf(at.x, k % x.size);
      if (oy < 0 || ox < 0) continue;
      const int64_t output = windows.Output(at.example, oy, ox, at.channel);
      if (chosen[output] == k) sum += output_gradients[output];
    }
    input_gradients[i] = sum;
  }
};

// Elements of window (oy, ox) that are no padding.
PACELINE_HOST_DEVICE inline int64_t CoveredCount(const ImageWindows& windows,
                                                 int64_t oy, int64_t ox) {
  const auto& [y, x, channels] = windows;
  int64_t rows = 0;
  for (int64_t k = 0; k < y.size; ++k) rows += y.InputOf(oy, k) >= 0 ? 1 : 0;
  int64_t columns = 0;
  for (int64_t k = 0; k < x.size; ++k) columns += x.InputOf(ox, k) >= 0 ? 1 : 0;
  return rows * columns;
}

struct AveragePool {
  ImageWindows windows;
  const float* inputs = nullptr;
  float* outputs = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = windows;
    const ImageElement at = ElementAt(i, y.output, x.output, channels);
    float sum = 0;
    for (int64_t k = 0; k < y.size * x.size; ++k) {
      const int64_t iy = y.InputOf(at.y, k / x.size);
      const int64_t ix = x.InputOf(at.x, k % x.size);
      if (iy < 0 || ix < 0) continue;
      sum += inputs[windows.Input(at.example, iy, ix, at.channel)];
    }
    outputs[i] = sum / static_cast<float>(CoveredCount(windows, at.y, at.x));
  }
};

struct AveragePoolBackward {
  ImageWindows windows;
  const float* output_gradients = nullptr;
  float* input_gradients = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const auto& [y, x, channels] = windows;
    const ImageElement at = ElementAt(i, y.input, x.input, channels);
    float sum = 0;
    for (int64_t k = 0; k < y.size * x.size; ++k) {
      const int64_t oy = y.OutputOf(at.y, k / x.size);
      const int64_t ox = x.OutputOf(at.x, k % x.size);
      if (oy < 0 || ox < 0) continue;
      sum += output_gradients[windows.Output(at.example, oy, ox, at.channel)] /
             static_cast<float>(CoveredCount(windows, oy, ox));
    }
    input_gradients[i] = sum;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
