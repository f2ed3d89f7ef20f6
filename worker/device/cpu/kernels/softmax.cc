#include "worker/device/cpu/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "common/base/simd.h"
#include "worker/device/cpu/kernels/exp.h"
#include "worker/device/cpu/kernels/short_rows.h"

namespace paceline::cpu {
namespace {

// If rows are contiguous, calls `run` with a stride of 1 that the compiler
// knows. Inlined into functions that are compiled once per instruction set.
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

// `run(blocks)` reads a block of each input and writes the output into
// blocks[0].
template <int kInputs, typename Run>
[[gnu::always_inline]] inline void ForEachBlock(
    const RowGeometry& rows, int64_t begin, int64_t end,
    const float* const (&inputs)[kInputs], float* output, const Run& run) {
  alignas(64) LaneBlock blocks[kInputs] = {};
  for (int64_t first = begin; first < end; first += kLanes) {
    const int64_t count = std::min(kLanes, end - first);
    for (int k = 0; k < kInputs; ++k) {
      LoadBlock(rows, first, count, inputs[k], blocks[k]);
    }
    run(blocks);
    StoreBlock(rows, first, count, blocks[0], output);
  }
}

[[gnu::always_inline]] inline void LargestOfLanes(int64_t size,
                                                  const LaneBlock& block,
                                                  float (&largest)[kLanes]) {
  std::copy_n(block[0], kLanes, largest);
  ForEachInLanes(
      size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
        const float value = block[i][lane];
        largest[lane] = value > largest[lane] ? value : largest[lane];
      });
}

[[gnu::always_inline]] inline void ShortSoftmaxForward(const RowGeometry& rows,
                                                       int64_t begin,
                                                       int64_t end,
                                                       const float* inputs,
                                                       float* outputs) {
  const int64_t size = rows.size;
  ForEachBlock<1>(
      rows, begin, end, {inputs},
      outputs, [=](LaneBlock * blocks) __attribute__((always_inline)) {
        LaneBlock& block = blocks[0];
        alignas(64) float largest[kLanes];
        LargestOfLanes(size, block, largest);
        alignas(64) float sum[kLanes] = {};
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              block[i][lane] = VectorExp(block[i][lane] - largest[lane]);
              sum[lane] += block[i][lane];
            });
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              block[i][lane] /= sum[lane];
            });
      });
}

[[gnu::always_inline]] inline void ShortLogSoftmaxForward(
    const RowGeometry& rows, int64_t begin, int64_t end, const float* inputs,
    float* outputs) {
  const int64_t size = rows.size;
  ForEachBlock<1>(
      rows, begin, end, {inputs},
      outputs, [=](LaneBlock * blocks) __attribute__((always_inline)) {
        LaneBlock& block = blocks[0];
        alignas(64) float largest[kLanes];
        LargestOfLanes(size, block, largest);
        alignas(64) float log_sum[kLanes] = {};
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              log_sum[lane] += VectorExp(block[i][lane] - largest[lane]);
            });
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          log_sum[lane] = largest[lane] + std::log(log_sum[lane]);
        }
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              block[i][lane] -= log_sum[lane];
            });
      });
}

[[gnu::always_inline]] inline void ShortLogSoftmaxBackward(
    const RowGeometry& rows, int64_t begin, int64_t end, const float* outputs,
    const float* output_gradients, float* input_gradients) {
  const int64_t size = rows.size;
  ForEachBlock<2>(
      rows, begin, end, {output_gradients, outputs},
      input_gradients, [=](LaneBlock * blocks) __attribute__((always_inline)) {
        LaneBlock& dy = blocks[0];
        const LaneBlock& out = blocks[1];
        alignas(64) float sum[kLanes] = {};
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              sum[lane] += dy[i][lane];
            });
        ForEachInLanes(
            size, [&](int64_t i, int64_t lane) __attribute__((always_inline)) {
              dy[i][lane] -= VectorExp(out[i][lane]) * sum[lane];
            });
      });
}

}  // namespace

PACELINE_MULTIVERSION
void SoftmaxForward(const RowGeometry& rows, int64_t begin, int64_t end,
                    const float* inputs, float* outputs) {
  if (AreShort(rows)) {
    ShortSoftmaxForward(rows, begin, end, inputs, outputs);
    return;
  }
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
  if (AreShort(rows)) {
    ShortLogSoftmaxForward(rows, begin, end, inputs, outputs);
    return;
  }
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
  if (AreShort(rows)) {
    ShortLogSoftmaxBackward(rows, begin, end, outputs, output_gradients,
                            input_gradients);
    return;
  }
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
