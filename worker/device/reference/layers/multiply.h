// The product of several inputs.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_

#include <algorithm>
#include <cstddef>

#include "common/model/layers/multiply.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class MultiplyComputation : public NodeComputation<T> {
 public:
  explicit MultiplyComputation(const LayerContext<T>& /*context*/) {}

  void RunForward(const Step& /*step*/, Inputs<T> inputs,
                  Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{1});
    for (const Tensor<T>* input : inputs) MultiplyBy(*input, output);
  }

  void RunBackward(const Step& /*step*/, Inputs<T> inputs,
                   const Tensor<T>& /*output*/,
                   const Tensor<T>& output_gradient,
                   absl::Span<Tensor<T>> input_gradients) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      input_gradients[i].values = output_gradient.values;
      for (size_t other = 0; other < inputs.size(); ++other) {
        if (other != i) MultiplyBy(*inputs[other], input_gradients[i]);
      }
    }
  }

 private:
  static void MultiplyBy(const Tensor<T>& factor, Tensor<T>& product) {
    for (int64_t i = 0; i < product.size(); ++i) {
      product.values[i] *= factor.values[i];
    }
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_
