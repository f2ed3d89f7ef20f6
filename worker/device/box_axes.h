// The position of a box (a slice) in a larger tensor.
#ifndef PACELINE_WORKER_DEVICE_BOX_AXES_H_
#define PACELINE_WORKER_DEVICE_BOX_AXES_H_

#include <cstddef>
#include <cstdint>

#include "common/base/host_device.h"
#include "common/limits.h"
#include "common/tensor/shape.h"

namespace paceline {

// Axes are listed last first. An axis that the box covers completely is merged
// with the axis before it, so consecutive elements along axis 0 of the box are
// also consecutive in the larger tensor.
struct BoxAxes {
  // Includes the batch axis.
  static constexpr int kMaxCount = limits::kMaxRank + 1;

  int count = 1;
  // Sizes of the box. It covers [starts[axis], starts[axis] + sizes[axis]).
  int64_t sizes[kMaxCount] = {1};
  int64_t starts[kMaxCount] = {};
  // Sizes of the larger tensor.
  int64_t whole_sizes[kMaxCount] = {1};

  // The index in the larger tensor of element i of the box.
  PACELINE_HOST_DEVICE int64_t WholeIndex(int64_t i) const {
    int64_t index = 0;
    int64_t stride = 1;
    for (int axis = 0; axis < count; ++axis) {
      const bool is_last = axis + 1 == count;
      const int64_t at = is_last ? i : i % sizes[axis];
      i = is_last ? 0 : i / sizes[axis];
      index += (starts[axis] + at) * stride;
      stride *= whole_sizes[axis];
    }
    return index;
  }

  // The index in the box of element i of the larger tensor; -1 if it is outside
  // the box.
  PACELINE_HOST_DEVICE int64_t BoxIndex(int64_t i) const {
    int64_t index = 0;
    int64_t stride = 1;
    for (int axis = 0; axis < count; ++axis) {
      const bool is_last = axis + 1 == count;
      const int64_t at = (is_last ? i : i % whole_sizes[axis]) - starts[axis];
      if (at < 0 || at >= sizes[axis]) return -1;
      i = is_last ? 0 : i / whole_sizes[axis];
      index += at * stride;
      stride *= sizes[axis];
    }
    return index;
  }
};

// The axes of a box of `sizes` that begins at `starts`, in a tensor of shape
// `whole`.
inline BoxAxes MakeBoxAxes(const Shape& starts, const Shape& sizes,
                           const Shape& whole) {
  BoxAxes axes;
  for (size_t i = whole.size(); i-- > 0;) {
    if (whole[i] == 1) continue;
    int last = axes.count - 1;
    const bool is_whole = axes.sizes[last] == axes.whole_sizes[last];
    if (!is_whole) {
      last = axes.count++;
      axes.sizes[last] = 1;
      axes.whole_sizes[last] = 1;
    }
    axes.starts[last] = starts[i] * axes.whole_sizes[last];
    axes.sizes[last] *= sizes[i];
    axes.whole_sizes[last] *= whole[i];
  }
  return axes;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_BOX_AXES_H_
