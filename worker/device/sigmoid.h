// Sigmoid and softplus without overflow. NaN gives NaN.
#ifndef PACELINE_WORKER_DEVICE_SIGMOID_H_
#define PACELINE_WORKER_DEVICE_SIGMOID_H_

#include <algorithm>
#include <cmath>

#include "common/base/host_device.h"

namespace paceline {

template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T SigmoidOf(T x) {
  // The argument of exp is never positive, so it cannot overflow.
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T SoftplusOf(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_SIGMOID_H_
