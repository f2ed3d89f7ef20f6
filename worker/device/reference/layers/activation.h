// An activation function.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ACTIVATION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ACTIVATION_H_

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/model/activation.h"
#include "worker/device/activation_formulas.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/layers/softmax.h"

namespace paceline::reference {

// Not of a layer: the program puts it behind each layer that ends in one.
template <typename T>
class ActivationComputation : public LayerComputation<T> {
 public:
  explicit ActivationComputation(ActivationFunction function)
      : function_(function) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    if (!IsRowwise(function_)) {
      for (int64_t i = 0; i < input.size(); ++i) {
        output.values[i] = Activate(function_, input.values[i]);
      }
      return;
    }
    for (int64_t r = 0; r < input.row_count(); ++r) {
      if (function_ == ActivationFunction::kSoftmax) {
        SoftmaxRow(input.row(r), input.row_size(), 1, output.row(r));
      } else {
        LogSoftmaxRow(input.row(r), input.row_size(), output.row(r));
      }
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& output, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    if (!IsRowwise(function_)) {
      for (int64_t i = 0; i < input.size(); ++i) {
        input_gradient.values[i] =
            ActivationDerivative(function_, input.values[i]) *
            output_gradient.values[i];
      }
      return;
    }
    for (int64_t r = 0; r < output.row_count(); ++r) {
      const T* const y = output.row(r);
      const T* const dy = output_gradient.row(r);
      T* const dx = input_gradient.row(r);
      if (function_ == ActivationFunction::kSoftmax) {
        SoftmaxRowGradient(y, dy, output.row_size(), 1, dx);
      } else {
        LogSoftmaxRowGradient(y, dy, output.row_size(), dx);
      }
    }
  }

 private:
  static void LogSoftmaxRow(const T* x, int64_t size, T* y) {
    const T largest = *std::max_element(x, x + size);
    T sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += std::exp(x[i] - largest);
    for (int64_t i = 0; i < size; ++i) y[i] = x[i] - largest - std::log(sum);
  }

  static void LogSoftmaxRowGradient(const T* y, const T* dy, int64_t size,
                                    T* dx) {
    const T sum = std::accumulate(dy, dy + size, T{0});
    for (int64_t i = 0; i < size; ++i) dx[i] = dy[i] - std::exp(y[i]) * sum;
  }

  ActivationFunction function_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ACTIVATION_H_
