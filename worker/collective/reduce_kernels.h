// The loops over elements in collectives.
#ifndef PACELINE_WORKER_COLLECTIVE_REDUCE_KERNELS_H_
#define PACELINE_WORKER_COLLECTIVE_REDUCE_KERNELS_H_

#include <cstdint>

#include "worker/collective/moments_block.h"

namespace paceline {

// to[i] += from[i].
void AddTo(float* to, const float* from, int64_t count);
void AddTo(double* to, const double* from, int64_t count);
// to[i] = the moments over the rows of both to[i] and from[i].
void AddTo(MomentsBlock* to, const MomentsBlock* from, int64_t count);

// Converts to bfloat16: rounds to nearest, ties to even; NaN stays NaN.
void ToBFloat16(const float* from, uint16_t* to, int64_t count);
// to[i] = from[i], or to[i] += from[i].
void FromBFloat16(const uint16_t* from, float* to, int64_t count);
void AddBFloat16(const uint16_t* from, float* to, int64_t count);

// IEEE 754 binary16, rounded to the nearest, ties to even. What is too large
// becomes infinite.
void ToFloat16(const float* from, uint16_t* to, int64_t count);
void FromFloat16(const uint16_t* from, float* to, int64_t count);
void AddFloat16(const uint16_t* from, float* to, int64_t count);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_REDUCE_KERNELS_H_
