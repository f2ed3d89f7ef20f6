#include "worker/collective/reduce_kernels.h"

#include "common/base/merge_moments.h"
#include "common/base/simd.h"
#include "common/tensor/float16.h"

namespace paceline {

PACELINE_MULTIVERSION
void AddTo(float* to, const float* from, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

PACELINE_MULTIVERSION
void AddTo(double* to, const double* from, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

// Not vectorised by instruction set: each rank merges on its own, and ranks
// must get the same bits even if their machines have different vector units.
void AddTo(MomentsBlock* to, const MomentsBlock* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    ColumnMoments merged = {to[i].rows, to[i].means, to[i].deviations};
    MergeMoments({from[i].rows, from[i].means, from[i].deviations},
                 MomentsBlock::kColumns, merged);
    to[i].rows = merged.rows;
  }
}

PACELINE_MULTIVERSION
void ToBFloat16(const float* from, uint16_t* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = BFloat16Of(from[i]);
}

PACELINE_MULTIVERSION
void FromBFloat16(const uint16_t* from, float* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = FloatOfBFloat16(from[i]);
}

PACELINE_MULTIVERSION
void AddBFloat16(const uint16_t* from, float* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] += FloatOfBFloat16(from[i]);
}

PACELINE_MULTIVERSION
void ToFloat16(const float* from, uint16_t* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = Float16Of(from[i]);
}

PACELINE_MULTIVERSION
void FromFloat16(const uint16_t* from, float* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = FloatOfFloat16(from[i]);
}

PACELINE_MULTIVERSION
void AddFloat16(const uint16_t* from, float* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] += FloatOfFloat16(from[i]);
}

}  // namespace paceline
