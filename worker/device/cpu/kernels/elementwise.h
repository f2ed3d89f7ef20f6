// One element function over arrays.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ELEMENTWISE_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "common/operations/elementwise.h"

namespace paceline::cpu {

// y = function(a, b, c) for `count` elements. Pass null for arguments that the
// function does not read. `y` may be one of the arguments. Not for kConstant.
void ComputeElements(op::ElementFunction function, int64_t count,
                     const float* a, const float* b, const float* c, float* y);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ELEMENTWISE_H_
