#include "worker/device/cpu/kernels/softmax.h"

#include <algorithm>
#include <cmath>

namespace paceline::cpu {
namespace {

float LargestOf(const RowGeometry& geometry, const float* row) {
  float largest = row[0];
  for (int64_t i = 1; i < geometry.size; ++i) {
    largest = std::max(largest, row[i * geometry.stride]);
  }
  return largest;
}

}  // namespace

void SoftmaxForward(const RowGeometry& geometry, int64_t begin, int64_t end,
                    const float* inputs, float* outputs) {
  for (int64_t row = begin; row < end; ++row) {
    const float* const in = inputs + geometry.Offset(row);
    float* const out = outputs + geometry.Offset(row);
    const float largest = LargestOf(geometry, in);
    float sum = 0;
    for (int64_t i = 0; i < geometry.size; ++i) {
      const float value = std::exp(in[i * geometry.stride] - largest);
      out[i * geometry.stride] = value;
      sum += value;
    }
    for (int64_t i = 0; i < geometry.size; ++i) {
      out[i * geometry.stride] /= sum;
    }
  }
}

void LogSoftmaxForward(const RowGeometry& geometry, int64_t begin, int64_t end,
                       const float* inputs, float* outputs) {
  for (int64_t row = begin; row < end; ++row) {
    const float* const in = inputs + geometry.Offset(row);
    float* const out = outputs + geometry.Offset(row);
    const float largest = LargestOf(geometry, in);
    float sum = 0;
    for (int64_t i = 0; i < geometry.size; ++i) {
      sum += std::exp(in[i * geometry.stride] - largest);
    }
    const float log_sum = largest + std::log(sum);
    for (int64_t i = 0; i < geometry.size; ++i) {
      out[i * geometry.stride] = in[i * geometry.stride] - log_sum;
    }
  }
}

void SoftmaxBackward(const RowGeometry& geometry, int64_t begin, int64_t end,
                     const float* outputs, const float* output_gradients,
                     float* input_gradients) {
  for (int64_t row = begin; row < end; ++row) {
    const float* const out = outputs + geometry.Offset(row);
    const float* const dy = output_gradients + geometry.Offset(row);
    float* const dx = input_gradients + geometry.Offset(row);
    float sum = 0;
    for (int64_t i = 0; i < geometry.size; ++i) {
      sum += out[i * geometry.stride] * dy[i * geometry.stride];
    }
    for (int64_t i = 0; i < geometry.size; ++i) {
      const int64_t at = i * geometry.stride;
      dx[at] = out[at] * (dy[at] - sum);
    }
  }
}

void LogSoftmaxBackward(const RowGeometry& geometry, int64_t begin, int64_t end,
                        const float* outputs, const float* output_gradients,
                        float* input_gradients) {
  for (int64_t row = begin; row < end; ++row) {
    const float* const out = outputs + geometry.Offset(row);
    const float* const dy = output_gradients + geometry.Offset(row);
    float* const dx = input_gradients + geometry.Offset(row);
    float sum = 0;
    for (int64_t i = 0; i < geometry.size; ++i) sum += dy[i * geometry.stride];
    for (int64_t i = 0; i < geometry.size; ++i) {
      const int64_t at = i * geometry.stride;
      dx[at] = dy[at] - std::exp(out[at]) * sum;
    }
  }
}

}  // namespace paceline::cpu
