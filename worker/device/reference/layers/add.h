// The sum of several inputs.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/model/layers/add.h"
#include "worker/device/reference/broadcast.h"
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
      const std::vector<size_t> indices =
          BroadcastIndices(input->shape, output.shape);
      for (size_t i = 0; i < indices.size(); ++i) {
        output.values[i] += input->values[indices[i]];
      }
    }
  }

  void RunBackward(const Step& /*step*/, Inputs<T> /*inputs*/,
                   const Tensor<T>& /*output*/,
                   const Tensor<T>& output_gradient,
                   absl::Span<Tensor<T>> input_gradients) override {
    for (Tensor<T>& gradient : input_gradients) {
      const std::vector<size_t> indices =
          BroadcastIndices(gradient.shape, output_gradient.shape);
      std::fill(gradient.values.begin(), gradient.values.end(), T{0});
      for (size_t i = 0; i < indices.size(); ++i) {
        gradient.values[indices[i]] += output_gradient.values[i];
      }
    }
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_ADD_H_
