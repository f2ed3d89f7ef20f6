// A tensor with its axes in another order.
#ifndef PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_
#define PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/base/host_device.h"
#include "common/limits.h"
#include "common/tensor/shape.h"

namespace paceline {

// The axes of the result, last first.
struct PermutedAxes {
  // Includes the batch axis.
  static constexpr int kMaxCount = limits::kMaxRank + 1;

  int count = 0;
  int64_t sizes[kMaxCount] = {};
  // In the tensor that is permuted.
  int64_t strides[kMaxCount] = {};

  // The index in the permuted tensor of element i of the result.
  PACELINE_HOST_DEVICE int64_t Index(int64_t i) const {
    int64_t index = 0;
    for (int axis = 0; axis < count; ++axis) {
      index += i % sizes[axis] * strides[axis];
      i /= sizes[axis];
    }
    return index;
  }
};

// Axis i of the result is axis permutation[i] of `shape`.
inline PermutedAxes MakePermutedAxes(const Shape& shape,
                                     absl::Span<const int> permutation) {
  Shape strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  PermutedAxes axes;
  for (size_t i = permutation.size(); i-- > 0;) {
    axes.sizes[axes.count] = shape[permutation[i]];
    axes.strides[axes.count] = strides[permutation[i]];
    ++axes.count;
  }
  return axes;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_
