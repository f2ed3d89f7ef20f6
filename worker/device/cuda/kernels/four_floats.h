// Four adjacent floats, read and written at once, for kernels that are limited
// by memory bandwidth.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

struct alignas(16) FourFloats {
  float values[4];

  PACELINE_HOST_DEVICE float& operator[](int i) { return values[i]; }
  PACELINE_HOST_DEVICE float operator[](int i) const { return values[i]; }
};

// Four floats of 16 bits in memory.
struct alignas(8) FourBits16 {
  uint16_t bits[4];
};

// Blocks of four in `count` elements; the last may be short.
PACELINE_HOST_DEVICE inline int64_t FourBlocks(int64_t count) {
  return (count + 3) / 4;
}

// Whether the elements [begin, begin + 4) are in an array of `end` elements and
// can be read at once, as a Four. A single variable may start at any element of
// its bucket; nearly all threads of a launch get the same answer.
template <typename Four>
PACELINE_HOST_DEVICE inline bool IsWholeBlock(const void* data, int64_t begin,
                                              int64_t end) {
  constexpr uintptr_t kSize = sizeof(Four) / 4;
  return begin + 4 <= end &&
         (reinterpret_cast<uintptr_t>(data) + begin * kSize) % sizeof(Four) ==
             0;
}

// The elements [begin, begin + 4) of an array of `end` elements; zeros beyond
// its end. Fastest if the first is 16-byte aligned.
PACELINE_HOST_DEVICE inline FourFloats LoadFour(const float* data,
                                                int64_t begin, int64_t end) {
  if (IsWholeBlock<FourFloats>(data, begin, end)) {
    return *reinterpret_cast<const FourFloats*>(data + begin);
  }
  FourFloats result = {};
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (begin + i < end) result[i] = data[begin + i];
  }
  return result;
}

PACELINE_HOST_DEVICE inline void StoreFour(const FourFloats& values,
                                           float* data, int64_t begin,
                                           int64_t end) {
  if (IsWholeBlock<FourFloats>(data, begin, end)) {
    *reinterpret_cast<FourFloats*>(data + begin) = values;
    return;
  }
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (begin + i < end) data[begin + i] = values[i];
  }
}

// The same of arrays in the types of mixed precision.
PACELINE_HOST_DEVICE inline FourFloats LoadFour(const ConstValues& array,
                                                int64_t begin, int64_t end) {
  if (array.type == DataType::kFloat32) {
    return LoadFour(static_cast<const float*>(array.data), begin, end);
  }
  FourFloats result = {};
  if (!IsWholeBlock<FourBits16>(array.data, begin, end)) {
    PACELINE_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (begin + i < end) result[i] = array[begin + i];
    }
    return result;
  }
  const FourBits16 four = *reinterpret_cast<const FourBits16*>(
      static_cast<const uint16_t*>(array.data) + begin);
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    result[i] = array.type == DataType::kFloat16
                    ? ReadFloat16(four.bits[i])
                    : FloatOfBFloat16(four.bits[i]);
  }
  return result;
}

// A whole block.
PACELINE_HOST_DEVICE inline void StoreWholeFour(const FourFloats& values,
                                                const Values& array,
                                                int64_t begin) {
  if (array.type == DataType::kFloat32) {
    *reinterpret_cast<FourFloats*>(static_cast<float*>(array.data) + begin) =
        values;
    return;
  }
  FourBits16 four;
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    four.bits[i] = array.type == DataType::kFloat16 ? WriteFloat16(values[i])
                                                    : BFloat16Of(values[i]);
  }
  *reinterpret_cast<FourBits16*>(static_cast<uint16_t*>(array.data) + begin) =
      four;
}

PACELINE_HOST_DEVICE inline void StoreFour(const FourFloats& values,
                                           const Values& array, int64_t begin,
                                           int64_t end) {
  const bool is_whole = array.type == DataType::kFloat32
                            ? IsWholeBlock<FourFloats>(array.data, begin, end)
                            : IsWholeBlock<FourBits16>(array.data, begin, end);
  if (is_whole) {
    StoreWholeFour(values, array, begin);
    return;
  }
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (begin + i < end) array.Set(begin + i, values[i]);
  }
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
