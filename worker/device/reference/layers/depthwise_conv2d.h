// Convolution of each channel for itself.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_

#include <vector>

#include "common/model/layers/depthwise_conv2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/convolution.h"

namespace paceline::reference {

template <typename T>
class DepthwiseConv2DComputation : public LayerComputation<T> {
 public:
  explicit DepthwiseConv2DComputation(const LayerContext<T>& context)
      : variables_(context.variables) {
    const auto& layer = *static_cast<const DepthwiseConv2D*>(context.layer);
    convolution_ = {layer.windows(), context.input_shape.back()};
  }

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    SetToBias(bias(), output);
    convolution_.AddForward(input, variables_[0].value, output);
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    convolution_.Backward(input, variables_[0], output_gradient,
                          input_gradient);
    SetBiasGradient(output_gradient, bias());
  }

 private:
  const Variable<T>* bias() const {
    return variables_.size() > 1 ? &variables_[1] : nullptr;
  }

  std::vector<Variable<T>> variables_;
  Convolution convolution_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DEPTHWISE_CONV2D_H_
