// Arrays stored as float32 or bfloat16; kernels compute with them in float32.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_STORED_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_STORED_H_

#include <cstdint>

#include "common/tensor/float16.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline::cpu {

struct BFloat16 {
  uint16_t bits;
};

[[gnu::always_inline]] inline float Load(float stored) { return stored; }
[[gnu::always_inline]] inline float Load(BFloat16 stored) {
  return FloatOfBFloat16(stored.bits);
}
[[gnu::always_inline]] inline void Store(float value, float& stored) {
  stored = value;
}
[[gnu::always_inline]] inline void Store(float value, BFloat16& stored) {
  stored.bits = BFloat16Of(value);
}

// An array of either type, read-only or mutable.
struct ConstStored {
  const void* data = nullptr;
  DataType type = DataType::kFloat32;
};
struct Stored {
  void* data = nullptr;
  DataType type = DataType::kFloat32;
};

// Calls `function` with the array as a typed pointer. Inlined, so that the
// function is compiled for the caller's instruction set.
template <typename Function>
[[gnu::always_inline]] inline void WithTyped(ConstStored array,
                                             const Function& function) {
  if (array.type == DataType::kBFloat16) {
    function(static_cast<const BFloat16*>(array.data));
  } else {
    DCHECK(array.type == DataType::kFloat32);
    function(static_cast<const float*>(array.data));
  }
}
template <typename Function>
[[gnu::always_inline]] inline void WithTyped(Stored array,
                                             const Function& function) {
  if (array.type == DataType::kBFloat16) {
    function(static_cast<BFloat16*>(array.data));
  } else {
    DCHECK(array.type == DataType::kFloat32);
    function(static_cast<float*>(array.data));
  }
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_STORED_H_
