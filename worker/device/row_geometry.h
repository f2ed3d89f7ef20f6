// Rows along an axis of a tensor.
#ifndef PACELINE_WORKER_DEVICE_ROW_GEOMETRY_H_
#define PACELINE_WORKER_DEVICE_ROW_GEOMETRY_H_

#include <cstddef>
#include <cstdint>

#include "common/base/host_device.h"
#include "common/tensor/shape.h"

namespace paceline {

// A row has `size` elements, `stride` apart. Rows are ordered as in a tensor of
// shape (rows / stride, size, stride) with the middle axis removed.
struct RowGeometry {
  int64_t size = 0;
  int64_t stride = 1;

  // The offset of a row's first element.
  PACELINE_HOST_DEVICE int64_t Offset(int64_t row) const {
    return row / stride * size * stride + row % stride;
  }
  // The offset of a row's element i.
  PACELINE_HOST_DEVICE int64_t Index(int64_t row, int64_t i) const {
    return Offset(row) + i * stride;
  }
};

// `axis`: an index into `shape`.
inline RowGeometry RowsAlong(const Shape& shape, int axis) {
  RowGeometry rows{.size = shape[axis]};
  for (size_t i = axis + 1; i < shape.size(); ++i) rows.stride *= shape[i];
  return rows;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_ROW_GEOMETRY_H_
