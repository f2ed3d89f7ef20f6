// Bias and rectifier after a product or convolution, for cases that the library
// does not fuse.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// values += bias, then optionally ReLU, in which NaN stays NaN. For each of
// FourBlocks(count).
struct BiasRelu {
  int64_t count = 0;
  bool has_relu = false;
  // Size of the last axis.
  int64_t channels = 1;
  // Null: no bias.
  ConstValues bias{};
  Values values{};

  PACELINE_HOST_DEVICE void operator()(int64_t block) const {
    FourFloats x = LoadFour(ConstValues(values), 4 * block, count);
    if (bias.data != nullptr) {
      const FourFloats added = Biases(4 * block % channels);
      PACELINE_UNROLL
      for (int k = 0; k < 4; ++k) x[k] += added[k];
    }
    PACELINE_UNROLL
    for (int k = 0; k < 4; ++k) x[k] = has_relu && x[k] < 0 ? 0.0f : x[k];
    StoreFour(x, values, 4 * block, count);
  }

  // Of four elements, the first of which is of this channel.
  PACELINE_HOST_DEVICE FourFloats Biases(int64_t channel) const {
    if (channel + 4 <= channels) return LoadFour(bias, channel, channels);
    FourFloats biases;
    PACELINE_UNROLL
    for (int k = 0; k < 4; ++k) biases[k] = bias[(channel + k) % channels];
    return biases;
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_BIAS_RELU_H_
