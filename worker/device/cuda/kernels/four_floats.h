// Four adjacent floats, read and written at once, for kernels that are limited
// by memory bandwidth.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_

#include <cstdint>

#include "common/base/host_device.h"

namespace paceline::cuda {

struct alignas(16) FourFloats {
  float values[4];

  PACELINE_HOST_DEVICE float& operator[](int i) { return values[i]; }
  PACELINE_HOST_DEVICE float operator[](int i) const { return values[i]; }
};

// Blocks of four in `count` elements; the last may be short.
PACELINE_HOST_DEVICE inline int64_t FourBlocks(int64_t count) {
  return (count + 3) / 4;
}

// Whether a whole block can be read at once. A single variable may start at any
// element of its bucket; all threads of a launch get the same answer.
PACELINE_HOST_DEVICE inline bool IsWholeBlock(const float* data, int64_t block,
                                              int64_t count) {
  return 4 * block + 4 <= count &&
         reinterpret_cast<uintptr_t>(data) % sizeof(FourFloats) == 0;
}

// The elements from 4 · block on; zeros beyond `count`. Fastest if `data` is
// 16-byte aligned.
PACELINE_HOST_DEVICE inline FourFloats LoadFour(const float* data,
                                                int64_t block, int64_t count) {
  if (IsWholeBlock(data, block, count)) {
    return reinterpret_cast<const FourFloats*>(data)[block];
  }
  FourFloats result = {};
  for (int i = 0; i < 4 && 4 * block + i < count; ++i) {
    result[i] = data[4 * block + i];
  }
  return result;
}

PACELINE_HOST_DEVICE inline void StoreFour(const FourFloats& values,
                                           float* data, int64_t block,
                                           int64_t count) {
  if (IsWholeBlock(data, block, count)) {
    reinterpret_cast<FourFloats*>(data)[block] = values;
    return;
  }
  for (int i = 0; i < 4 && 4 * block + i < count; ++i) {
    data[4 * block + i] = values[i];
  }
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
