// Pooling of images. Forward for each output, backward for each input: an input
// gathers what its windows send, so no sum needs atomics.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

struct MaxPool {
  ImageWindows windows;
  ConstValues inputs{};
  Values outputs{};
  // Which element of its window each output is: the first of the largest, or of
  // those that are NaN. Null: not asked for.
  int32_t* chosen = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.OutputAt(i);
    float largest = 0;
    int64_t best = -1;
    windows.ForEachInput(at.y, at.x, [&](int64_t k, int64_t iy, int64_t ix) {
      const float value = inputs[windows.Input(at.example, iy, ix, at.channel)];
      // NaN compares false: it is taken, and stays.
      if (best >= 0 && (value <= largest || largest != largest)) return;
      largest = value;
      best = k;
    });
    outputs.Set(i, largest);
    if (chosen != nullptr) chosen[i] = static_cast<int32_t>(best);
  }
};

struct MaxPoolBackward {
  ImageWindows windows;
  const int32_t* chosen = nullptr;
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = windows.InputAt(i);
    float sum = 0;
    windows.ForEachOutput(at.y, at.x, [&](int64_t k, int64_t oy, int64_t ox) {
      const int64_t output = windows.Output(at.example, oy, ox, at.channel);
      if (chosen[output] == k) sum += output_gradients[output];
    });
    input_gradients.Set(i, sum);
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
