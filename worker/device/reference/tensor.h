// Tensors of the reference device.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_TENSOR_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_TENSOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline::reference {

// Values in C order; dimension 0 is the batch.
template <typename T>
struct Tensor {
  explicit Tensor(Shape tensor_shape)
      : shape(std::move(tensor_shape)),
        values(static_cast<size_t>(NumElements(shape))) {}

  int64_t size() const { return static_cast<int64_t>(values.size()); }
  int64_t batch_size() const { return shape[0]; }
  int64_t example_size() const { return size() / batch_size(); }
  // Size of the last dimension.
  int64_t row_size() const { return shape.back(); }
  int64_t row_count() const { return size() / row_size(); }

  T* row(int64_t index) { return &values[index * row_size()]; }
  const T* row(int64_t index) const { return &values[index * row_size()]; }

  Shape shape;
  std::vector<T> values;
};

// A variable and its gradient, in the buckets of a model's state.
template <typename T>
struct Variable {
  absl::Span<const T> value;
  absl::Span<T> gradient;
  Regularizer regularizer;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_TENSOR_H_
