// Offsets of tensor elements in memory.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OFFSETS_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OFFSETS_H_

#include <cstdint>
#include <vector>

#include "common/tensor/shape.h"

namespace paceline::reference {

// The distance between neighbours along each axis, in C order.
inline std::vector<int64_t> Strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

// Strides in `from` along the axes of `to`, to which `from` is broadcast.
inline std::vector<int64_t> BroadcastStrides(const Shape& from,
                                             const Shape& to) {
  const std::vector<int64_t> strides = Strides(from);
  std::vector<int64_t> result(to.size(), 0);
  const size_t leading = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) result[leading + axis] = strides[axis];
  }
  return result;
}

// Σ index · stride for each element of `shape`, in C order.
inline std::vector<int64_t> Offsets(const Shape& shape,
                                    const std::vector<int64_t>& strides) {
  std::vector<int64_t> offsets(static_cast<size_t>(NumElements(shape)));
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t& each : offsets) {
    each = offset;
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return offsets;
}

// For each element of `to`: the offset in `from`, which is broadcast to it.
inline std::vector<int64_t> BroadcastOffsets(const Shape& from,
                                             const Shape& to) {
  return Offsets(to, BroadcastStrides(from, to));
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OFFSETS_H_
