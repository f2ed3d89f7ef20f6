// A tensor with its axes in another order or direction.
#ifndef PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_
#define PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_

#include <cstdint>
#include <numeric>
#include <vector>

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
  // In the tensor that is permuted; negative along an axis that is reversed.
  int64_t strides[kMaxCount] = {};
  // Where the first element of the result is in that tensor.
  int64_t start = 0;

  // The index in the permuted tensor of element i of the result.
  PACELINE_HOST_DEVICE int64_t Index(int64_t i) const {
    int64_t index = start;
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

// The elements of `shape` in reverse order along `axis`.
inline PermutedAxes MakeReversedAxes(const Shape& shape, int axis) {
  std::vector<int> same_order(shape.size());
  std::iota(same_order.begin(), same_order.end(), 0);
  PermutedAxes axes = MakePermutedAxes(shape, same_order);
  int64_t& stride = axes.strides[axes.count - 1 - axis];
  axes.start = (shape[axis] - 1) * stride;
  stride = -stride;
  return axes;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PERMUTED_AXES_H_
