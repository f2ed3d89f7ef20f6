// The index of the largest element of a row.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_

#include <cstdint>

namespace paceline::cpu {

// Of each of `count` rows of `size` elements, at least 1; of equal ones the
// first. NaN is smaller than all else.
void ArgMaxOfRows(int64_t count, int64_t size, const float* rows,
                  int32_t* indices);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARG_MAX_H_
