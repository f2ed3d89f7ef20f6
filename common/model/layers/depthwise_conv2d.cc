#include "common/model/layers/depthwise_conv2d.h"

namespace paceline {

const FieldTable<DepthwiseConv2D>& DepthwiseConv2D::Fields() {
  using Self = DepthwiseConv2D;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Convolution of each channel for itself.",
      ConvolutionFields<Self>(
          {Optional("depth_multiplier", &Self::depth_multiplier,
                    Between(1, kMaxDepthMultiplier),
                    "Filters of each channel.")},
          /*groups=*/{},
          {{"depthwise", "the kernel", &Self::depthwise_initializer,
            &Self::depthwise_regularizer, &Self::depthwise_constraint}}));
  return table;
}

absl::StatusOr<Shape> DepthwiseConv2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  // 0 if the input is no image; ConvolvedShape then returns the error.
  const int64_t channels = inputs[0].empty() ? 0 : inputs[0].back();
  return ConvolvedShape(inputs[0], channels * depth_multiplier);
}

std::vector<VariableSpec> DepthwiseConv2D::Variables(
    absl::Span<const Shape> inputs) const {
  const int64_t channels = inputs[0].back();
  std::vector<VariableSpec> variables = {
      {"kernel", KernelShape(channels, depth_multiplier), depthwise_initializer,
       depthwise_regularizer, depthwise_constraint}};
  AddBias(channels * depth_multiplier, variables);
  return variables;
}

LoweredLayer DepthwiseConv2D::Lower(const LayerCall& call) const {
  return WithBias(DepthwiseConvolved(call.inputs[0], call.variables[0]),
                  call.variables);
}

}  // namespace paceline
