// Maps elements of a tensor that is broadcast to a larger shape.
#ifndef PACELINE_WORKER_DEVICE_BROADCAST_AXES_H_
#define PACELINE_WORKER_DEVICE_BROADCAST_AXES_H_

#include <cstddef>
#include <cstdint>

#include "common/base/host_device.h"
#include "common/limits.h"
#include "common/tensor/shape.h"

namespace paceline {

// Neighbouring axes of the larger shape are merged if all of them are
// broadcast, or none.
struct BroadcastAxes {
  // Includes the batch axis.
  static constexpr int kMaxCount = limits::kMaxRank + 1;

  int count = 0;
  // Sizes of the larger shape, last axis first.
  int64_t sizes[kMaxCount] = {};
  // Strides in the smaller tensor; 0 for a broadcast axis.
  int64_t strides[kMaxCount] = {};

  // Whether the shapes are equal, so that nothing is broadcast.
  PACELINE_HOST_DEVICE bool is_same() const {
    return count == 0 || (count == 1 && strides[0] == 1);
  }

  // The index in the smaller tensor for element i of the larger shape.
  PACELINE_HOST_DEVICE int64_t Offset(int64_t i) const {
    if (is_same()) return i;
    int64_t offset = 0;
    // Integer division is slow on a GPU; the last axis needs none.
    for (int axis = 0; axis + 1 < count; ++axis) {
      offset += i % sizes[axis] * strides[axis];
      i /= sizes[axis];
    }
    return offset + i * strides[count - 1];
  }
};

// `from` must be broadcastable to `to` by NumPy's rule.
inline BroadcastAxes MakeBroadcastAxes(const Shape& from, const Shape& to) {
  BroadcastAxes axes;
  int64_t stride = 1;
  for (size_t i = 1; i <= to.size(); ++i) {
    const int64_t size = to[to.size() - i];
    if (size == 1) continue;
    const bool is_repeated = i > from.size() || from[from.size() - i] != size;
    const int last = axes.count - 1;
    if (last >= 0 && (axes.strides[last] == 0) == is_repeated) {
      axes.sizes[last] *= size;
    } else {
      axes.sizes[axes.count] = size;
      axes.strides[axes.count] = is_repeated ? 0 : stride;
      ++axes.count;
    }
    if (!is_repeated) stride *= size;
  }
  return axes;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_BROADCAST_AXES_H_
