// Sums and products of arrays. The result may lie where an operand does.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_

#include <cstdint>

namespace paceline::cpu {

void AddArrays(int64_t count, const float* a, const float* b, float* sum);
void MultiplyArrays(int64_t count, const float* a, const float* b,
                    float* product);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_ARITHMETIC_H_
