// Pooling of images. An index computes up to four adjacent channels of a pixel:
// of the outputs in forward, of the inputs in backward. There it adds up the
// gradients from its windows, so no atomics are needed.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Windows on images whose pixels are divided into fours of channels; the last
// four of a pixel may be short. An ImageElement here has the first channel of
// its four.
struct PoolingFours {
  ImageWindows windows;

  PACELINE_HOST_DEVICE int64_t PixelFours() const {
    return FourBlocks(windows.channels);
  }
  // The number of indices for a batch of so many inputs, or outputs.
  int64_t IndexCount(int64_t elements) const {
    return elements / windows.channels * PixelFours();
  }

  PACELINE_HOST_DEVICE ImageElement InputAt(int64_t i) const {
    return FourAt(i, windows.y.input, windows.x.input);
  }
  PACELINE_HOST_DEVICE ImageElement OutputAt(int64_t i) const {
    return FourAt(i, windows.y.output, windows.x.output);
  }

  // The index of the outputs that has the channels of `at`.
  PACELINE_HOST_DEVICE int64_t OutputIndex(const ImageElement& at, int64_t oy,
                                           int64_t ox) const {
    const ImageWindows by_fours = {windows.y, windows.x, PixelFours()};
    return by_fours.Output(at.example, oy, ox, at.channel / 4);
  }

  // The channels of `at`, of another pixel of its image.
  PACELINE_HOST_DEVICE FourFloats LoadInputs(const ConstValues& inputs,
                                             const ImageElement& at, int64_t iy,
                                             int64_t ix) const {
    const int64_t pixel = windows.Input(at.example, iy, ix, 0);
    return LoadFour(inputs, pixel + at.channel, pixel + windows.channels);
  }
  PACELINE_HOST_DEVICE FourFloats LoadOutputs(const ConstValues& outputs,
                                              const ImageElement& at,
                                              int64_t oy, int64_t ox) const {
    const int64_t pixel = windows.Output(at.example, oy, ox, 0);
    return LoadFour(outputs, pixel + at.channel, pixel + windows.channels);
  }
  PACELINE_HOST_DEVICE void StoreInputs(const FourFloats& four,
                                        const Values& inputs,
                                        const ImageElement& at) const {
    const int64_t pixel = windows.Input(at.example, at.y, at.x, 0);
    StoreFour(four, inputs, pixel + at.channel, pixel + windows.channels);
  }
  PACELINE_HOST_DEVICE void StoreOutputs(const FourFloats& four,
                                         const Values& outputs,
                                         const ImageElement& at) const {
    const int64_t pixel = windows.Output(at.example, at.y, at.x, 0);
    StoreFour(four, outputs, pixel + at.channel, pixel + windows.channels);
  }

 private:
  PACELINE_HOST_DEVICE ImageElement FourAt(int64_t i, int64_t height,
                                           int64_t width) const {
    ImageElement at = ElementAt(i, height, width, PixelFours());
    at.channel *= 4;
    return at;
  }
};

// Whether x is taken as larger than the largest before it. NaN is taken as the
// largest, and stays.
PACELINE_HOST_DEVICE inline bool IsLarger(float x, float largest) {
  return !(x <= largest) && largest == largest;
}

// For each of the IndexCount of the outputs.
struct MaxPool {
  PoolingFours fours;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = fours.OutputAt(i);
    FourFloats largest = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
    fours.windows.ForEachInput(
        at.y, at.x, [&](int64_t, int64_t iy, int64_t ix) {
          const FourFloats x = fours.LoadInputs(inputs, at, iy, ix);
          PACELINE_UNROLL
          for (int c = 0; c < 4; ++c) {
            if (IsLarger(x[c], largest[c])) largest[c] = x[c];
          }
        });
    fours.StoreOutputs(largest, outputs, at);
  }
};

// For each of four channels, the number of an element in its window.
struct alignas(16) FourPositions {
  int32_t values[4];
};

// Finds the first of the largest inputs in each window: MaxPoolBackward gives
// it the window's gradient. For each of the IndexCount of the outputs.
struct MaxPoolPositions {
  PoolingFours fours;
  ConstValues inputs{};
  // By index.
  FourPositions* positions = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = fours.OutputAt(i);
    FourFloats largest = {};
    FourPositions found = {{-1, -1, -1, -1}};
    fours.windows.ForEachInput(
        at.y, at.x, [&](int64_t k, int64_t iy, int64_t ix) {
          const FourFloats x = fours.LoadInputs(inputs, at, iy, ix);
          PACELINE_UNROLL
          for (int c = 0; c < 4; ++c) {
            const bool is_first = found.values[c] < 0;
            if (!is_first && !IsLarger(x[c], largest[c])) continue;
            largest[c] = x[c];
            found.values[c] = static_cast<int32_t>(k);
          }
        });
    positions[i] = found;
  }
};

// For each of the IndexCount of the inputs.
struct MaxPoolBackward {
  PoolingFours fours;
  const FourPositions* positions = nullptr;
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = fours.InputAt(i);
    FourFloats sum = {};
    fours.windows.ForEachOutput(
        at.y, at.x, [&](int64_t k, int64_t oy, int64_t ox) {
          const FourPositions takers = positions[fours.OutputIndex(at, oy, ox)];
          const FourFloats g = fours.LoadOutputs(output_gradients, at, oy, ox);
          PACELINE_UNROLL
          for (int c = 0; c < 4; ++c) {
            if (takers.values[c] == k) sum[c] += g[c];
          }
        });
    fours.StoreInputs(sum, input_gradients, at);
  }
};

// For each of the IndexCount of the outputs.
struct AveragePool {
  PoolingFours fours;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = fours.OutputAt(i);
    FourFloats mean = {};
    fours.windows.ForEachInput(
        at.y, at.x, [&](int64_t, int64_t iy, int64_t ix) {
          const FourFloats x = fours.LoadInputs(inputs, at, iy, ix);
          PACELINE_UNROLL
          for (int c = 0; c < 4; ++c) mean[c] += x[c];
        });
    const auto count =
        static_cast<float>(fours.windows.CoveredCount(at.y, at.x));
    PACELINE_UNROLL
    for (int c = 0; c < 4; ++c) mean[c] /= count;
    fours.StoreOutputs(mean, outputs, at);
  }
};

// For each of the IndexCount of the inputs.
struct AveragePoolBackward {
  PoolingFours fours;
  ConstValues output_gradients{};
  Values input_gradients{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const ImageElement at = fours.InputAt(i);
    FourFloats sum = {};
    fours.windows.ForEachOutput(
        at.y, at.x, [&](int64_t, int64_t oy, int64_t ox) {
          const FourFloats g = fours.LoadOutputs(output_gradients, at, oy, ox);
          const auto count =
              static_cast<float>(fours.windows.CoveredCount(oy, ox));
          PACELINE_UNROLL
          for (int c = 0; c < 4; ++c) sum[c] += g[c] / count;
        });
    fours.StoreInputs(sum, input_gradients, at);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
