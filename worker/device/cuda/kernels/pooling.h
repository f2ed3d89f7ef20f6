// Pooling of images, by up to four adjacent channels of a pixel. Forward has an
// index for each four of the outputs. Backward has one for each four of the
// inputs, which adds up the gradients from its windows, so no atomics are
// needed.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_POOLING_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/image_windows.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Windows whose channels are taken by fours; the last four of a pixel may be
// short. An ImageElement has the first channel of its four.
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
    ImageElement at =
        ElementAt(i, windows.y.input, windows.x.input, PixelFours());
    at.channel *= 4;
    return at;
  }
  PACELINE_HOST_DEVICE ImageElement OutputAt(int64_t i) const {
    ImageElement at =
        ElementAt(i, windows.y.output, windows.x.output, PixelFours());
    at.channel *= 4;
    return at;
  }

  // The index of the outputs that has the channels of `at`.
  PACELINE_HOST_DEVICE int64_t OutputIndex(const ImageElement& at, int64_t oy,
                                           int64_t ox) const {
    const int64_t row = at.example * windows.y.output + oy;
    return (row * windows.x.output + ox) * PixelFours() + at.channel / 4;
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
};

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
            // NaN is taken as the largest, and stays.
            if (x[c] <= largest[c] || largest[c] != largest[c]) continue;
            largest[c] = x[c];
          }
        });
    fours.StoreOutputs(largest, outputs, at);
  }
};

// Four numbers of elements of a window.
struct alignas(16) FourPositions {
  int32_t values[4];
};

// The gradient of a window goes to the first of its largest inputs: their
// positions in the windows, from which MaxPoolBackward takes the gradients.
// For each of the IndexCount of the outputs.
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
            // NaN is taken as the largest.
            const bool is_larger = found.values[c] < 0 || x[c] > largest[c] ||
                                   (x[c] != x[c] && largest[c] == largest[c]);
            if (!is_larger) continue;
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
