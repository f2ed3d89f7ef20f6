// Arithmetic of arrays. For each element.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_

#include <cstdint>

#include "worker/device/cuda/kernels/values.h"
#include "worker/device/host_device.h"
#include "worker/device/row_geometry.h"

namespace paceline::cuda {

// The two may be of different types.
struct CopyElements {
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const { to.Set(i, from[i]); }
};

// Of `b` the element of each row. The result may lie where `a` does, and where
// `b` does if rows are single elements.
struct AddElements {
  RowGeometry rows;
  ConstValues a{};
  ConstValues b{};
  Values sums{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    sums.Set(i, a[i] + b[rows.RowOf(i)]);
  }
};

struct MultiplyElements {
  RowGeometry rows;
  ConstValues a{};
  ConstValues b{};
  Values products{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    products.Set(i, a[i] * b[rows.RowOf(i)]);
  }
};

// The element of each row, all along it.
struct RepeatElements {
  RowGeometry rows;
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    to.Set(i, from[rows.RowOf(i)]);
  }
};

// outputs = inputs · scale + offset of the channel. May work in place.
struct ScaleChannels {
  int64_t channels = 0;
  const float* scales = nullptr;
  // Null: zeros.
  const float* offsets = nullptr;
  ConstValues inputs{};
  Values outputs{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i % channels;
    const float scaled = inputs[i] * scales[c];
    outputs.Set(i, offsets == nullptr ? scaled : scaled + offsets[c]);
  }
};

// The same part of every row of a matrix, from one matrix to another. For each
// element of the parts.
struct CopyRowParts {
  // Elements of a row that are copied.
  int64_t size = 0;
  int64_t from_row_size = 0;
  int64_t to_row_size = 0;
  // At the part in the first row.
  ConstValues from{};
  Values to{};

  PACELINE_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / size;
    const int64_t at = i % size;
    to.Set(row * to_row_size + at, from[row * from_row_size + at]);
  }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_ARITHMETIC_H_
