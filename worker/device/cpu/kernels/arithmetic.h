// Sums and products of arrays. The result may lie where an operand does.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "worker/device/row_geometry.h"

namespace paceline::cpu {

void AddArrays(int64_t count, const float* a, const float* b, float* sum);
void MultiplyArrays(int64_t count, const float* a, const float* b,
                    float* product);
// The same number for all.
void AddNumber(int64_t count, const float* a, float b, float* sum);
void MultiplyByNumber(int64_t count, const float* a, float b, float* product);

// Sums of the rows [begin, end), which go into these elements.
void SumRows(const RowGeometry& rows, int64_t begin, int64_t end,
             const float* values, float* sums);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
