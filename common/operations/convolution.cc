#include "common/operations/convolution.h"

#include "glog/logging.h"

namespace paceline::op {
namespace {

Shape KernelShape(const ConvolutionParameters& parameters, int64_t channels,
                  int64_t filters) {
  CHECK(channels % parameters.groups == 0 && filters % parameters.groups == 0)
      << channels << " channels and " << filters << " filters in "
      << parameters.groups << " groups";
  return {parameters.window[0].size, parameters.window[1].size,
          channels / parameters.groups, filters};
}

// CHECK-fails unless the shapes fit together in a convolution.
void CheckConvolution(const ConvolutionParameters& parameters,
                      const TensorType& input, const TensorType& kernel,
                      const TensorType& output) {
  CHECK(input.type == kernel.type && input.type == output.type &&
        IsReal(input.type));
  CHECK(kernel.shape ==
        KernelShape(parameters, input.shape.back(), output.shape.back()))
      << ToString(input) << " by " << ToString(kernel);
  CHECK(output.shape ==
        WindowOutputShape(parameters.window, input.shape, output.shape.back()))
      << ToString(input) << " to " << ToString(output);
}

}  // namespace

std::vector<TensorType> ConvolutionOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK_EQ(inputs.size(), options_.has_bias ? 3u : 2u);
  const TensorType output = {
      inputs[0].type, WindowOutputShape(parameters_.window, inputs[0].shape,
                                        inputs[1].shape.back())};
  CheckConvolution(parameters_, inputs[0], inputs[1], output);
  if (options_.has_bias) {
    CHECK(inputs[2] == TensorType({output.type, {output.shape.back()}}))
        << ToString(inputs[2]) << " for " << ToString(output);
  }
  return {output};
}

Gradients ConvolutionOperation::AddGradient(const CallGradient& call) const {
  CHECK(!options_.has_bias && !options_.rectifies);
  const Tensor& input = call.inputs[0];
  const Tensor& kernel = call.inputs[1];
  const Tensor& dy = *call.output_gradients[0];
  Gradients gradients(2);
  if (call.wanted[1]) {
    gradients[1] = ConvolutionKernelGradient(input, dy, parameters_);
  }
  if (call.wanted[0]) {
    gradients[0] =
        ConvolutionInputGradient(dy, kernel, parameters_, input.shape());
  }
  return gradients;
}

std::vector<TensorType> ConvolutionInputGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType input = {inputs[0].type, input_shape_};
  CheckConvolution(parameters_, input, inputs[1], inputs[0]);
  return {input};
}

Gradients ConvolutionInputGradientOperation::AddGradient(
    const CallGradient& call) const {
  const Tensor& output_gradient = call.inputs[0];
  const Tensor& kernel = call.inputs[1];
  const Tensor& dx = *call.output_gradients[0];
  Gradients gradients(2);
  if (call.wanted[1]) {
    gradients[1] = ConvolutionKernelGradient(dx, output_gradient, parameters_);
  }
  if (call.wanted[0]) gradients[0] = Convolution(dx, kernel, parameters_);
  return gradients;
}

std::vector<TensorType> ConvolutionKernelGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType kernel = {
      inputs[0].type,
      KernelShape(parameters_, inputs[0].shape.back(), inputs[1].shape.back())};
  CheckConvolution(parameters_, inputs[0], kernel, inputs[1]);
  std::vector<TensorType> outputs = {kernel};
  if (has_row_sum_) {
    outputs.push_back({kernel.type, {1, 1, 1, kernel.shape.back()}});
  }
  return outputs;
}

Gradients ConvolutionKernelGradientOperation::AddGradient(
    const CallGradient& call) const {
  CHECK(!has_row_sum_);
  const Tensor& input = call.inputs[0];
  const Tensor& output_gradient = call.inputs[1];
  const Tensor& dk = *call.output_gradients[0];
  Gradients gradients(2);
  if (call.wanted[0]) {
    gradients[0] = ConvolutionInputGradient(output_gradient, dk, parameters_,
                                            input.shape());
  }
  if (call.wanted[1]) gradients[1] = Convolution(input, dk, parameters_);
  return gradients;
}

Tensor Convolution(const Tensor& input, const Tensor& kernel,
                   const ConvolutionParameters& parameters) {
  return AddCall(ConvolutionOperation(parameters), {input, kernel});
}

Tensor ConvolutionInputGradient(const Tensor& output_gradient,
                                const Tensor& kernel,
                                const ConvolutionParameters& parameters,
                                Shape input_shape) {
  return AddCall(
      ConvolutionInputGradientOperation(parameters, std::move(input_shape)),
      {output_gradient, kernel});
}

Tensor ConvolutionKernelGradient(const Tensor& input,
                                 const Tensor& output_gradient,
                                 const ConvolutionParameters& parameters) {
  return AddCall(ConvolutionKernelGradientOperation(parameters),
                 {input, output_gradient});
}

}  // namespace paceline::op
