// The logarithm of a sum of exponentials.
#ifndef PACELINE_WORKER_DEVICE_CPU_LOSSES_LOG_SUM_EXP_H_
#define PACELINE_WORKER_DEVICE_CPU_LOSSES_LOG_SUM_EXP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace paceline::cpu {

// log Σ exp(row), for `size` elements, at least 1. exp of nothing positive: no
// overflow.
inline float LogSumExp(const float* row, int64_t size) {
  const float largest = *std::max_element(row, row + size);
  float sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += std::exp(row[i] - largest);
  return largest + std::log(sum);
}

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_LOSSES_LOG_SUM_EXP_H_
