#include "worker/device/cpu/kernels/softmax.h"

#include <cmath>

#include "common/base/simd.h"
#include "worker/device/cpu/kernels/exp.h"

namespace paceline::cpu {
namespace {

// Rows whose elements lie side by side have a stride that the compiler knows.
// Inlined into what is compiled for each instruction set.
template <typename Run>
[[gnu::always_inline]] inline void ForEachRow(const RowGeometry& rows,
                                              int64_t begin, int64_t end,
                                              const Run& run) {
  for (int64_t row = begin; row < end; ++row) {
    if (rows.stride == 1) {
      run(rows.Offset(row), int64_t{1});
    } else {
      run(rows.Offset(row), rows.stride);
    }
  }
}

[[gnu::always_inline]] inline float LargestOf(int64_t size, const float* row,
                                              int64_t stride) {
  float largest = row[0];
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < size; ++i) {
    largest = row[i * stride] > largest ? row[i * stride] : largest;
  }
  return largest;
}

}  // namespace

PACELINE_MULTIVERSION
void SoftmaxForward(const RowGeometry& rows, int64_t begin, int64_t end,
                    const float* inputs, float* outputs) {
  const int64_t size = rows.size;
  ForEachRow(
      rows, begin,
      end, [=](int64_t offset, int64_t stride) __attribute__((always_inline)) {
        const float* const in = inputs + offset;
        float* const out = outputs + offset;
        const float largest = LargestOf(size, in, stride);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < size; ++i) {
          const float value = VectorExp(in[i * stride] - largest);
          out[i * stride] = value;
          sum += value;
        }
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) out[i * stride] /= sum;
      });
}

PACELINE_MULTIVERSION
void LogSoftmaxForward(const RowGeometry& rows, int64_t begin, int64_t end,
                       const float* inputs, float* outputs) {
  const int64_t size = rows.size;
  ForEachRow(
      rows, begin,
      end, [=](int64_t offset, int64_t stride) __attribute__((always_inline)) {
        const float* const in = inputs + offset;
        float* const out = outputs + offset;
        const float largest = LargestOf(size, in, stride);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < size; ++i) {
          sum += VectorExp(in[i * stride] - largest);
        }
        const float log_sum = largest + std::log(sum);
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) {
          out[i * stride] = in[i * stride] - log_sum;
        }
      });
}

PACELINE_MULTIVERSION
void SoftmaxBackward(const RowGeometry& rows, int64_t begin, int64_t end,
                     const float* outputs, const float* output_gradients,
                     float* input_gradients) {
  const int64_t size = rows.size;
  ForEachRow(
      rows, begin,
      end, [=](int64_t offset, int64_t stride) __attribute__((always_inline)) {
        const float* const out = outputs + offset;
        const float* const dy = output_gradients + offset;
        float* const dx = input_gradients + offset;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < size; ++i)
          sum += out[i * stride] * dy[i * stride];
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) {
          const int64_t at = i * stride;
          dx[at] = out[at] * (dy[at] - sum);
        }
      });
}

PACELINE_MULTIVERSION
void LogSoftmaxBackward(const RowGeometry& rows, int64_t begin, int64_t end,
                        const float* outputs, const float* output_gradients,
                        float* input_gradients) {
  const int64_t size = rows.size;
  ForEachRow(
      rows, begin,
      end, [=](int64_t offset, int64_t stride) __attribute__((always_inline)) {
        const float* const out = outputs + offset;
        const float* const dy = output_gradients + offset;
        float* const dx = input_gradients + offset;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < size; ++i) sum += dy[i * stride];
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) {
          const int64_t at = i * stride;
          dx[at] = dy[at] - VectorExp(out[at]) * sum;
        }
      });
}

}  // namespace paceline::cpu
