// Arrays in one of the types of mixed precision; kernels compute with their
// elements as floats. All threads of a launch take the same branch.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_VALUES_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_VALUES_H_

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include <cstdint>

#include "common/base/host_device.h"
#include "common/tensor/float16.h"
#include "common/tensor/shape.h"

namespace paceline::cuda {

PACELINE_HOST_DEVICE inline float ReadFloat16(uint16_t bits) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(bits));
#else
  return FloatOfFloat16(bits);
#endif
}

PACELINE_HOST_DEVICE inline uint16_t WriteFloat16(float value) {
#ifdef __CUDA_ARCH__
  return __half_as_ushort(__float2half_rn(value));
#else
  return Float16Of(value);
#endif
}

PACELINE_HOST_DEVICE inline const void* AddressOf(const void* data,
                                                  DataType type, int64_t i) {
  const int64_t size = type == DataType::kFloat32 ? 4 : 2;
  return static_cast<const char*>(data) + i * size;
}

// Read-only. `type` is float32, float16 or bfloat16; for other types only
// `data` is used.
struct ConstValues {
  const void* data = nullptr;
  DataType type = DataType::kFloat32;

  ConstValues() = default;
  PACELINE_HOST_DEVICE ConstValues(const void* data, DataType type)
      : data(data), type(type) {}

  // The array from element i on.
  PACELINE_HOST_DEVICE ConstValues From(int64_t i) const {
    return {AddressOf(data, type, i), type};
  }
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    if (type == DataType::kFloat32) return static_cast<const float*>(data)[i];
    const uint16_t bits = static_cast<const uint16_t*>(data)[i];
    return type == DataType::kFloat16 ? ReadFloat16(bits)
                                      : FloatOfBFloat16(bits);
  }
};

// The same, mutable.
struct Values {
  void* data = nullptr;
  DataType type = DataType::kFloat32;

  Values() = default;
  PACELINE_HOST_DEVICE Values(void* data, DataType type)
      : data(data), type(type) {}

  PACELINE_HOST_DEVICE operator ConstValues() const {  // NOLINT
    return {data, type};
  }
  // The array from element i on.
  PACELINE_HOST_DEVICE Values From(int64_t i) const {
    return {const_cast<void*>(AddressOf(data, type, i)), type};
  }
  PACELINE_HOST_DEVICE float operator[](int64_t i) const {
    return ConstValues(data, type)[i];
  }
  PACELINE_HOST_DEVICE void Set(int64_t i, float value) const {
    if (type == DataType::kFloat32) {
      static_cast<float*>(data)[i] = value;
    } else {
      static_cast<uint16_t*>(data)[i] =
          type == DataType::kFloat16 ? WriteFloat16(value) : BFloat16Of(value);
    }
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_VALUES_H_
