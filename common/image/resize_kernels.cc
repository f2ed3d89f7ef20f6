#include "common/image/resize_kernels.h"

#include <cstring>

#include "common/base/simd.h"

namespace paceline {
namespace {

using Float4 = float __attribute__((vector_size(16)));

}  // namespace

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
void BlendRgb(const float* in, const PixelBlend* blends, int64_t count,
              float* out) {
  // The fourth element is overwritten by the next pixel.
  for (int64_t i = 0; i + 1 < count; ++i) {
    Float4 low;
    Float4 high;
    std::memcpy(&low, in + blends[i].low, sizeof(low));
    std::memcpy(&high, in + blends[i].high, sizeof(high));
    const Float4 sum = blends[i].low_share * low + blends[i].high_share * high;
    std::memcpy(out + 3 * i, &sum, sizeof(sum));
  }
  const PixelBlend& last = blends[count - 1];
  for (int64_t c = 0; c < 3; ++c) {
    out[3 * (count - 1) + c] =
        last.low_share * in[last.low + c] + last.high_share * in[last.high + c];
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
