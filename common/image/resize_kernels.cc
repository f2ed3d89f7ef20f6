#include "common/image/resize_kernels.h"

#include "common/base/simd.h"

namespace paceline {

PACELINE_MULTIVERSION
void BlendRows(const uint8_t* in0, const uint8_t* in1, float w0, float w1,
               int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    out[i] = w0 * static_cast<float>(in0[i]) + w1 * static_cast<float>(in1[i]);
  }
}

PACELINE_MULTIVERSION
void BlendRows(const float* in0, const float* in1, float w0, float w1,
               int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = w0 * in0[i] + w1 * in1[i];
}

PACELINE_MULTIVERSION
void ScaleRow(const uint8_t* in, float w, int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = w * static_cast<float>(in[i]);
}

PACELINE_MULTIVERSION
void ScaleRow(const float* in, float w, int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = w * in[i];
}

PACELINE_MULTIVERSION
void AddRow(const uint8_t* in, float w, int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] += w * static_cast<float>(in[i]);
}

PACELINE_MULTIVERSION
void AddRow(const float* in, float w, int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] += w * in[i];
}

PACELINE_MULTIVERSION
void BlendColumns(const float* in, const int32_t* offsets, int64_t step,
                  const float* w0, const float* w1, int64_t count, float* out) {
  const float* next = in + step;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    out[i] = w0[i] * in[offsets[i]] + w1[i] * next[offsets[i]];
  }
}

PACELINE_MULTIVERSION
void ScaleColumns(const float* in, const int32_t* offsets, const float* w,
                  int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = w[i] * in[offsets[i]];
}

PACELINE_MULTIVERSION
void AddColumns(const float* in, const int32_t* offsets, const float* w,
                int64_t count, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] += w[i] * in[offsets[i]];
}

}  // namespace paceline
