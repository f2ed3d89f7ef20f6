// Pooling of images. Forward has one index per output. Backward has one index
// per input, which adds up the gradients from its windows, so no atomics are
// needed.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

struct MaxPool {
  ImageWindows windows;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.OutputAt(i);
    float largest = -INFINITY;
    windows.ForEachInput(at.y, at.x, [&](int64_t, int64_t iy, int64_t ix) {
      const float value = inputs[windows.Input(at.example, iy, ix, at.channel)];
      // NaN is taken as the largest, and stays.
      if (value <= largest || largest != largest) return;
      largest = value;
    });
    outputs.Set(i, largest);
  }
};

// The gradient of a window goes to the first input that equals the window's
// output.
struct MaxPoolBackward {
  ImageWindows windows;
  ConstValues inputs{};
  ConstValues outputs{};
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.InputAt(i);
    float sum = 0;
    windows.ForEachOutput(at.y, at.x, [&](int64_t k, int64_t oy, int64_t ox) {
      const int64_t output = windows.Output(at.example, oy, ox, at.channel);
      const float largest = outputs[output];
      if (!IsLargest(inputs[i], largest)) return;
      bool is_first = true;
      windows.ForEachInput(oy, ox, [&](int64_t before, int64_t iy, int64_t ix) {
        if (before >= k || !is_first) return;
        is_first = !IsLargest(
            inputs[windows.Input(at.example, iy, ix, at.channel)], largest);
      });
      if (is_first) sum += output_gradients[output];
    });
    input_gradients.Set(i, sum);
  }

  PACELINE_HOST_DEVICE bool IsLargest(float input, float largest) const {
    // NaN does not equal itself.
    return input == largest || (input != input && largest != largest);
  }
};

struct AveragePool {
  ImageWindows windows;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.OutputAt(i);
    float sum = 0;
    windows.ForEachInput(at.y, at.x, [&](int64_t, int64_t iy, int64_t ix) {
      sum += inputs[windows.Input(at.example, iy, ix, at.channel)];
    });
    outputs.Set(i, sum / static_cast<float>(windows.CoveredCount(at.y, at.x)));
  }
};

struct AveragePoolBackward {
  ImageWindows windows;
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.InputAt(i);
    float sum = 0;
    windows.ForEachOutput(at.y, at.x, [&](int64_t, int64_t oy, int64_t ox) {
      sum += output_gradients[windows.Output(at.example, oy, ox, at.channel)] /
             static_cast<float>(windows.CoveredCount(oy, ox));
    });
    input_gradients.Set(i, sum);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
