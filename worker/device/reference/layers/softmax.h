// Softmax along any axis.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SOFTMAX_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SOFTMAX_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/model/layers/softmax.h"
#include "common/model/shape_rule.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

// `stride` parts the `size` elements of a row, the first of which is `x`.
template <typename T>
void SoftmaxRow(const T* x, int64_t size, int64_t stride, T* y) {
  T largest = x[0];
  for (int64_t i = 0; i < size; ++i) {
    largest = std::max(largest, x[i * stride]);
  }
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    y[i * stride] = std::exp(x[i * stride] - largest);
    sum += y[i * stride];
  }
  for (int64_t i = 0; i < size; ++i) y[i * stride] /= sum;
}

template <typename T>
void SoftmaxRowGradient(const T* y, const T* dy, int64_t size, int64_t stride,
                        T* dx) {
  T dot = 0;
  for (int64_t i = 0; i < size; ++i) dot += y[i * stride] * dy[i * stride];
  for (int64_t i = 0; i < size; ++i) {
    dx[i * stride] = y[i * stride] * (dy[i * stride] - dot);
  }
}

template <typename T>
class SoftmaxComputation : public LayerComputation<T> {
 public:
  explicit SoftmaxComputation(const LayerContext<T>& context) {
    const Shape& shape = context.input_shape;
    const auto& layer = *static_cast<const Softmax*>(context.layer);
    // Among the dimensions with the batch.
    const int axis = 1 + ExampleAxis(layer.axis, shape.size() - 1);
    size_ = shape[axis];
    stride_ = NumElements(absl::MakeSpan(shape).subspan(axis + 1));
  }

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    ForEachRow(input, [&](int64_t first) {
      SoftmaxRow(&input.values[first], size_, stride_, &output.values[first]);
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& /*input*/,
                const Tensor<T>& output, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    ForEachRow(output, [&](int64_t first) {
      SoftmaxRowGradient(&output.values[first], &output_gradient.values[first],
                         size_, stride_, &input_gradient.values[first]);
    });
  }

 private:
  // Calls `visit` with the index of the first element of each row.
  template <typename Visit>
  void ForEachRow(const Tensor<T>& tensor, Visit visit) const {
    for (int64_t outer = 0; outer < tensor.size(); outer += size_ * stride_) {
      for (int64_t inner = 0; inner < stride_; ++inner) visit(outer + inner);
    }
  }

  int64_t size_;
  int64_t stride_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SOFTMAX_H_
