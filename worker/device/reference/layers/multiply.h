// The product of several inputs.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/model/layers/multiply.h"
#include "worker/device/reference/broadcast.h"
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
      Tensor<T> product = output_gradient;
      for (size_t other = 0; other < inputs.size(); ++other) {
        if (other != i) MultiplyBy(*inputs[other], product);
      }
      std::vector<T>& gradient = input_gradients[i].values;
      const std::vector<size_t> indices =
          BroadcastIndices(inputs[i]->shape, product.shape);
      std::fill(gradient.begin(), gradient.end(), T{0});
      for (size_t e = 0; e < indices.size(); ++e) {
        gradient[indices[e]] += product.values[e];
      }
    }
  }

 private:
  static void MultiplyBy(const Tensor<T>& factor, Tensor<T>& product) {
    const std::vector<size_t> indices =
        BroadcastIndices(factor.shape, product.shape);
    for (size_t i = 0; i < indices.size(); ++i) {
      product.values[i] *= factor.values[indices[i]];
    }
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MULTIPLY_H_
