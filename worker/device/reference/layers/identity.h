// Layers that change nothing but the shape: Flatten, Reshape, and those that
// are all activation.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_IDENTITY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_IDENTITY_H_

#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class IdentityComputation : public LayerComputation<T> {
 public:
  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    output.values = input.values;
  }

  void Backward(const Step& /*step*/, const Tensor<T>& /*input*/,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    input_gradient.values = output_gradient.values;
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_IDENTITY_H_
