#include "worker/device/cuda/final_activation.h"

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
  return AddRowwiseForward(values, {.size = values->shape.back()}, builder);
}

Tensor* FinalActivation::AddRowwiseForward(Tensor* values,
                                           const RowGeometry& rows,
                                           ProgramBuilder& builder) {
  rows_ = rows;
  input_ = values;
  output_ = builder.NewTensor(values->shape);
  builder.AddKernel(
      {input_, output_}, values->count() / rows.size,
      [=, is_log = function_ == ActivationFunction::kLogSoftmax,
       output = output_] {
        return SoftmaxForward{rows, is_log, ValuesOf(values), ValuesOf(output)};
      });
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
  Tensor* const gradient = Overwritable(output, builder);
  if (IsRowwise(function_)) {
    builder.AddKernel({output_, gradient}, output_->count() / rows_.size,
                      [=, rows = rows_, out = output_,
                       is_log = function_ == ActivationFunction::kLogSoftmax] {
                        return SoftmaxBackward{rows, is_log, ValuesOf(out),
                                               ValuesOf(gradient)};
                      });
    return gradient;
  }
  builder.AddKernel({input_, gradient}, input_->count(),
                    [=, function = function_, input = input_] {
                      return ActivationBackward{function, ValuesOf(input),
                                                ValuesOf(gradient)};
                    });
  return gradient;
}

}  // namespace paceline::cuda
