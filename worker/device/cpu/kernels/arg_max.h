// The index of the largest element of a row.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_

#include <cstdint>

namespace paceline::cpu {

// The index of the largest element of each of `count` rows of `size` elements,
// at least 1; the first of equal ones. NaN counts as smaller than all numbers.
void ArgMaxOfRows(int64_t count, int64_t size, const float* rows,
                  int32_t* indices);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_
