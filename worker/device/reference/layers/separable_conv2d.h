// A convolution of each channel, then one of each pixel.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SEPARABLE_CONV2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SEPARABLE_CONV2D_H_

#include <vector>

#include "common/model/layers/separable_conv2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/convolution.h"

namespace paceline::reference {

template <typename T>
class SeparableConv2DComputation : public LayerComputation<T> {
 public:
  explicit SeparableConv2DComputation(const LayerContext<T>& context)
      : variables_(context.variables),
        between_(ShapeBetween(context)),
        between_gradient_(between_.shape) {
    const auto& layer = *static_cast<const SeparableConv2D*>(context.layer);
    depthwise_ = {layer.windows(), context.input_shape.back()};
  }

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    SetToBias<T>(nullptr, between_);
    depthwise_.AddForward(input, variables_[0].value, between_);
    SetToBias(bias(), output);
    pointwise_.AddForward(between_, variables_[1].value, output);
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    SetBiasGradient(output_gradient, bias());
    pointwise_.Backward(between_, variables_[1], output_gradient,
                        between_gradient_);
    depthwise_.Backward(input, variables_[0], between_gradient_,
                        input_gradient);
  }

 private:
  static Shape ShapeBetween(const LayerContext<T>& context) {
    Shape shape = context.output_shape;
    shape.back() =
        context.input_shape.back() *
        static_cast<const SeparableConv2D*>(context.layer)->depth_multiplier;
    return shape;
  }
  const Variable<T>* bias() const {
    return variables_.size() > 2 ? &variables_[2] : nullptr;
  }

  std::vector<Variable<T>> variables_;
  Convolution depthwise_;
  Convolution pointwise_;
  // What the first gives the second.
  Tensor<T> between_;
  Tensor<T> between_gradient_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_SEPARABLE_CONV2D_H_
