// Four adjacent floats, read and written at once, for kernels that are limited
// by memory bandwidth.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_

#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Adjacent elements of an array. Four of them have the layout and alignment by
// which a GPU loads them at once.
template <int kWidth>
struct alignas(4 * kWidth) Adjacent {
  float values[kWidth];

  PACELINE_HOST_DEVICE float& operator[](int i) { return values[i]; }
  PACELINE_HOST_DEVICE float operator[](int i) const { return values[i]; }
};
using FourFloats = Adjacent<4>;

// Four floats of 16 bits in memory.
struct alignas(8) FourBits16 {
  uint16_t bits[4];
};

// Blocks of four in `count` elements; the last may be short.
PACELINE_HOST_DEVICE inline int64_t FourBlocks(int64_t count) {
  return (count + 3) / 4;
}

// Whether the elements [begin, begin + 4) are in an array of `end` elements and
// can be read at once. A single variable may start at any element of its
// bucket; nearly all threads of a launch get the same answer.
PACELINE_HOST_DEVICE inline bool IsWholeFour(const ConstValues& array,
                                             int64_t begin, int64_t end) {
  const uintptr_t size = array.type == DataType::kFloat32 ? sizeof(FourFloats)
                                                          : sizeof(FourBits16);
  const void* const data = array.From(begin).data;
  return begin + 4 <= end && reinterpret_cast<uintptr_t>(data) % size == 0;
}

// The elements [begin, begin + 4), which must be a whole four.
PACELINE_HOST_DEVICE inline FourFloats LoadWholeFour(const ConstValues& array,
                                                     int64_t begin) {
  const void* const data = array.From(begin).data;
  if (array.type == DataType::kFloat32) {
    return *static_cast<const FourFloats*>(data);
  }
  const FourBits16 four = *static_cast<const FourBits16*>(data);
  FourFloats result;
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    result[i] = array.type == DataType::kFloat16
                    ? ReadFloat16(four.bits[i])
                    : FloatOfBFloat16(four.bits[i]);
  }
  return result;
}

PACELINE_HOST_DEVICE inline void StoreWholeFour(const FourFloats& values,
                                                const Values& array,
                                                int64_t begin) {
  void* const data = array.From(begin).data;
  if (array.type == DataType::kFloat32) {
    *static_cast<FourFloats*>(data) = values;
    return;
  }
  FourBits16 four;
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    four.bits[i] = array.type == DataType::kFloat16 ? WriteFloat16(values[i])
                                                    : BFloat16Of(values[i]);
  }
  *static_cast<FourBits16*>(data) = four;
}

// The elements [begin, begin + 4) of an array of `end` elements; zeros beyond
// its end. Fastest if they are a whole four.
PACELINE_HOST_DEVICE inline FourFloats LoadFour(const ConstValues& array,
                                                int64_t begin, int64_t end) {
  if (IsWholeFour(array, begin, end)) return LoadWholeFour(array, begin);
  FourFloats result = {};
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (begin + i < end) result[i] = array[begin + i];
  }
  return result;
}
PACELINE_HOST_DEVICE inline FourFloats LoadFour(const float* data,
                                                int64_t begin, int64_t end) {
  return LoadFour(ConstValues(data, DataType::kFloat32), begin, end);
}

PACELINE_HOST_DEVICE inline void StoreFour(const FourFloats& values,
                                           const Values& array, int64_t begin,
                                           int64_t end) {
  if (IsWholeFour(array, begin, end)) {
    StoreWholeFour(values, array, begin);
    return;
  }
  PACELINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (begin + i < end) array.Set(begin + i, values[i]);
  }
}
PACELINE_HOST_DEVICE inline void StoreFour(const FourFloats& values,
                                           float* data, int64_t begin,
                                           int64_t end) {
  StoreFour(values, Values(data, DataType::kFloat32), begin, end);
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_FOUR_FLOATS_H_
