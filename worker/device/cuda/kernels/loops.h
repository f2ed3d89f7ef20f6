// Loops of one index over many elements. Memory takes as long to answer as
// hundreds of operations, so such a loop is as fast as the number of loads that
// are under way at once. A loop that asks for the type of each element
// (ConstValues) waits for one before it loads the next: VisitArray asks once,
// before the loop, and ForEachLoaded loads ahead.

#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "common/base/host_device.h"
#include "common/tensor/float16.h"
#include "worker/device/cuda/kernels/four_floats.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Arrays of a type that the compiler knows; elements are read as floats.
struct Float32Array {
  const float* data = nullptr;
  PACELINE_HOST_DEVICE operator ConstValues() const {  // NOLINT
    return {data, DataType::kFloat32};
  }
  PACELINE_HOST_DEVICE float operator[](int64_t i) const { return data[i]; }
};
struct Float16Array {
  const uint16_t* data = nullptr;
  PACELINE_HOST_DEVICE operator ConstValues() const {  // NOLINT
    return {data, DataType::kFloat16};
  }
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    return ReadFloat16(data[i]);
  }
};
struct BFloat16Array {
  const uint16_t* data = nullptr;
  PACELINE_HOST_DEVICE operator ConstValues() const {  // NOLINT
    return {data, DataType::kBFloat16};
  }
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    return FloatOfBFloat16(data[i]);
  }
};

// Calls visit with the values as one of these.
template <typename Visit>
PACELINE_HOST_DEVICE inline void VisitArray(const ConstValues& values,
                                            const Visit& visit) {
  if (values.type == DataType::kFloat32) {
    visit(Float32Array{static_cast<const float*>(values.data)});
    return;
  }
  const auto* const bits = static_cast<const uint16_t*>(values.data);
  if (values.type == DataType::kFloat16) {
    visit(Float16Array{bits});
  } else {
    visit(BFloat16Array{bits});
  }
}
// The same with two arrays; they stay ConstValues if their types differ.
template <typename Visit>
PACELINE_HOST_DEVICE inline void VisitArrays(const ConstValues& a,
                                             const ConstValues& b,
                                             const Visit& visit) {
  if (a.type != b.type) {
    visit(a, b);
    return;
  }
  VisitArray(a, [&](const auto& array) {
    using Array = std::decay_t<decltype(array)>;
    visit(array, Array{static_cast<decltype(Array::data)>(b.data)});
  });
}

// Four adjacent elements must be a whole four (IsWholeFour).
template <int kWidth>
PACELINE_HOST_DEVICE inline Adjacent<kWidth> LoadAdjacent(
    const ConstValues& array, int64_t begin) {
  if constexpr (kWidth == 4) {
    return LoadWholeFour(array, begin);
  } else {
    Adjacent<kWidth> loaded;
    PACELINE_UNROLL
    for (int k = 0; k < kWidth; ++k) loaded[k] = array[begin + k];
    return loaded;
  }
}
template <int kWidth>
PACELINE_HOST_DEVICE inline void StoreAdjacent(const Adjacent<kWidth>& adjacent,
                                               const Values& array,
                                               int64_t begin) {
  if constexpr (kWidth == 4) {
    StoreWholeFour(adjacent, array, begin);
  } else {
    PACELINE_UNROLL
    for (int k = 0; k < kWidth; ++k) array.Set(begin + k, adjacent[k]);
  }
}

// For kernels with FourBlocks(channels) indices for each part of the rows:
// index i computes up to four adjacent channels of a part. Calls visit(part,
// first channel, std::integral_constant of how many): once for all four
// channels, if each row's four can be loaded at once from all arrays, else for
// one channel after the other.
template <typename Visit>
PACELINE_HOST_DEVICE inline void VisitChannels(
    int64_t i, int64_t channels, std::initializer_list<const void*> arrays,
    const Visit& visit) {
  const int64_t fours = FourBlocks(channels);
  const int64_t part = i / fours;
  const int64_t first = 4 * (i % fours);
  bool is_whole = channels % 4 == 0;
  for (const void* const array : arrays) {
    is_whole = is_whole && reinterpret_cast<uintptr_t>(array) % 16 == 0;
  }
  if (is_whole) {
    visit(part, first, std::integral_constant<int, 4>{});
    return;
  }
  for (int64_t c = first; c < first + 4 && c < channels; ++c) {
    visit(part, c, std::integral_constant<int, 1>{});
  }
}

// Calls use(i, load(i)) for the indices begin, begin + step, … before end, in
// this order. Loads several before it uses the first, since memory takes as
// long to answer as hundreds of operations.
template <typename Load, typename Use>
PACELINE_HOST_DEVICE inline void ForEachLoaded(int64_t begin, int64_t end,
                                               int64_t step, const Load& load,
                                               const Use& use) {
  // What is loaded must fit into registers.
  constexpr size_t kSize = sizeof(decltype(load(begin)));
  constexpr int kLoads = kSize > 16 ? 4 : kSize > 8 ? 8 : 16;
  int64_t i = begin;
  for (; i + (kLoads - 1) * step < end; i += kLoads * step) {
    decltype(load(i)) loaded[kLoads];
    PACELINE_UNROLL
    for (int k = 0; k < kLoads; ++k) loaded[k] = load(i + k * step);
    PACELINE_UNROLL
    for (int k = 0; k < kLoads; ++k) use(i + k * step, loaded[k]);
  }
  for (; i < end; i += step) use(i, load(i));
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_
