// The sum of several inputs.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_

#include <algorithm>

#include "common/model/layers/add.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class AddComputation : public NodeComputation<T> {
 public:
  explicit AddComputation(const LayerContext<T>& /*context*/) {}

  void RunForward(const Step& /*step*/, Inputs<T> inputs,
                  Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{0});
    for (const Tensor<T>* input : inputs) {
      for (int64_t i = 0; i < output.size(); ++i) {
        output.values[i] += input->values[i];
      }
    }
  }

  void RunBackward(const Step& /*step*/, Inputs<T> /*inputs*/,
                   const Tensor<T>& /*output*/,
                   const Tensor<T>& output_gradient,
                   absl::Span<Tensor<T>> input_gradients) override {
    for (Tensor<T>& gradient : input_gradients) {
      gradient.values = output_gradient.values;
    }
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_
