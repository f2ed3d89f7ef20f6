// Convolution of images, in groups.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_

#include <cstdint>
#include <vector>

#include "common/model/layers/conv2d.h"
#include "common/model/layers/convolution_layer.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/convolution.h"

namespace paceline::reference {

// Of a ConvolutionLayer.
template <typename T>
class ConvolutionComputation : public LayerComputation<T> {
 public:
  ConvolutionComputation(const LayerContext<T>& context, int64_t groups)
      : variables_(context.variables),
        convolution_{
            static_cast<const ConvolutionLayer*>(context.layer)->windows(),
            groups} {}

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

template <typename T>
class Conv2DComputation final : public ConvolutionComputation<T> {
 public:
  explicit Conv2DComputation(const LayerContext<T>& context)
      : ConvolutionComputation<T>(
            context, static_cast<const Conv2D*>(context.layer)->groups) {}
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_
