// L1 and L2 regularization of a variable.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_REGULARIZATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_REGULARIZATION_H_

#include <cstdint>

#include "common/model/variable.h"

namespace paceline::cpu {

// l1 · Σ|w| + l2 · Σw².
double PenaltyOf(const Regularizer& regularizer, int64_t count,
                 const float* values);

// gradients += scale · d(penalty) / d(values).
void AddPenaltyGradient(const Regularizer& regularizer, double scale,
                        int64_t count, const float* values, float* gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_REGULARIZATION_H_
