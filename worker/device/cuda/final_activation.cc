#include "worker/device/cuda/final_activation.h"

#include "worker/device/program/row_activation.h"

namespace paceline::cuda {

Tensor* FinalActivation::AddForward(Tensor* values, const Tensor* bias,
                                    ProgramBuilder& builder) {
  input_ = values;
  const bool is_elementwise = adds_bias_in_passing();
  output_ = is_elementwise ? builder.NewTensor(values->shape) : values;
  if (is_elementwise || bias != nullptr) {
    builder.AddKernel({values, output_}, values->count(),
                      [=, function = function_, output = output_] {
                        return BiasActivation{.function = function,
                                              .channels = values->shape.back(),
                                              .bias = FloatsOrNull(bias),
                                              .values = ValuesOf(values),
                                              .outputs = is_elementwise
                                                             ? ValuesOf(output)
                                                             : Values()};
                      });
  }
  if (!IsRowwise(function_)) return output_;
  output_ = AddRowActivation(function_, values, builder);
  return output_;
}

bool FinalActivation::adds_bias_in_passing() const {
  return !IsRowwise(function_) && function_ != ActivationFunction::kLinear;
}

Tensor* FinalActivation::AddRectified(Tensor* outputs) {
  input_ = outputs;
  output_ = outputs;
  return outputs;
}

Tensor* FinalActivation::AddBackward(OutputGradient output,
                                     ProgramBuilder& builder) const {
  if (output.before_activation || function_ == ActivationFunction::kLinear) {
    return output.tensor;
  }
  if (IsRowwise(function_)) {
    return AddRowActivationGradient(function_, output_, output, builder);
  }
  Tensor* const gradient = Overwritable(output, builder);
  builder.AddKernel({input_, gradient}, input_->count(),
                    [=, function = function_, input = input_] {
                      return ActivationBackward{function, ValuesOf(input),
                                                ValuesOf(gradient)};
                    });
  return gradient;
}

}  // namespace paceline::cuda
