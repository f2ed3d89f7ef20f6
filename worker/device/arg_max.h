// The index of the largest element of a row (common/operations/reduce.h).
#ifndef PACELINE_WORKER_DEVICE_ARG_MAX_H_
#define PACELINE_WORKER_DEVICE_ARG_MAX_H_

#include <cstdint>

#include "common/base/host_device.h"

namespace paceline {

// The index of the largest of `size` elements, at least 1; the first of equal
// ones. NaN counts as smaller than all numbers. Row is a pointer or has
// operator[].
template <typename Row>
PACELINE_HOST_DEVICE int32_t ArgMaxOf(const Row& row, int64_t size) {
  int64_t best = 0;
  auto largest = row[0];
  for (int64_t i = 1; i < size; ++i) {
    const auto x = row[i];
    // x == x is false for NaN.
    if (x > largest || (largest != largest && x == x)) {
      best = i;
      largest = x;
    }
  }
  return static_cast<int32_t>(best);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_ARG_MAX_H_
