// Reductions of arrays.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

// Writes the sums of the rows [begin, end) to the same elements of `sums`.
void SumRows(const RowGeometry& rows, int64_t begin, int64_t end,
             const float* values, float* sums);

// The same with the largest element of each row; NaN if there is one.
void FindRowMaxima(const RowGeometry& rows, int64_t begin, int64_t end,
                   const float* values, float* maxima);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
