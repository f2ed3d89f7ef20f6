// Sums over arrays.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

// Sums of the rows [begin, end), which go into these elements.
void SumRows(const RowGeometry& rows, int64_t begin, int64_t end,
             const float* values, float* sums);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
