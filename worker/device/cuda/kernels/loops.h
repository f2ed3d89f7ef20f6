// Loops of one index over many elements. Memory takes as long to answer as
// hundreds of operations, so such a loop is as fast as the number of loads that
// are under way at once. A loop that asks for the type of each element
// (ConstValues) waits for one before it loads the next: VisitArray asks once,
// before the loop, and ForEachLoaded loads ahead.

#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "common/base/host_device.h"
#include "common/tensor/float16.h"
#include "worker/device/cuda/kernels/values.h"

namespace paceline::cuda {

// Arrays of a type that the compiler knows; elements are read as floats.
struct Float32Array {
  const float* data = nullptr;
  PACELINE_HOST_DEVICE float operator[](int64_t i) const { return data[i]; }
};
struct Float16Array {
  const uint16_t* data = nullptr;
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    return ReadFloat16(data[i]);
  }
};
struct BFloat16Array {
  const uint16_t* data = nullptr;
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    return FloatOfBFloat16(data[i]);
  }
};

// Calls visit with the values as one of these, or with the pointer.
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
template <typename Visit>
PACELINE_HOST_DEVICE inline void VisitArray(const double* values,
                                            const Visit& visit) {
  visit(values);
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

// Calls use(i, load(i)) for the indices begin, begin + step, … before end, in
// this order. Loads several before it uses the first, since memory takes as
// long to answer as hundreds of operations.
template <typename Load, typename Use>
PACELINE_HOST_DEVICE inline void ForEachLoaded(int64_t begin, int64_t end,
                                               int64_t step, const Load& load,
                                               const Use& use) {
  constexpr int kLoads = 8;
  int64_t i = begin;
  for (; i + (kLoads - 1) * step < end; i += kLoads * step) {
    decltype(load(i)) loaded[kLoads];
    for (int k = 0; k < kLoads; ++k) loaded[k] = load(i + k * step);
    for (int k = 0; k < kLoads; ++k) use(i + k * step, loaded[k]);
  }
  for (; i < end; i += step) use(i, load(i));
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_LOOPS_H_
