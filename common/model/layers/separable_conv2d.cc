#include "common/model/layers/separable_conv2d.h"

#include "common/operations/convolution.h"

namespace paceline {

const FieldTable<SeparableConv2D>& SeparableConv2D::Fields() {
  using Self = SeparableConv2D;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "A convolution of each channel, then one of each pixel.",
      ConvolutionFields<Self>(
          {Optional("depth_multiplier", &Self::depth_multiplier,
                    Between(1, kMaxDepthMultiplier),
                    "Filters of each channel in the first convolution."),
           Required("filters", &Self::filters, AtLeast(1),
                    "Channels of the output.")},
          /*groups=*/{},
          {{"depthwise", "the first kernel", &Self::depthwise_initializer,
            &Self::depthwise_regularizer, &Self::depthwise_constraint},
           {"pointwise", "the second kernel", &Self::pointwise_initializer,
            &Self::pointwise_regularizer, &Self::pointwise_constraint}}));
  return table;
}

absl::StatusOr<Shape> SeparableConv2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  return ConvolvedShape(inputs[0], filters);
}

std::vector<VariableSpec> SeparableConv2D::Variables(
    absl::Span<const Shape> inputs) const {
  const int64_t channels = inputs[0].back();
  std::vector<VariableSpec> variables = {
      {"depthwise_kernel", KernelShape(channels, depth_multiplier),
       depthwise_initializer, depthwise_regularizer, depthwise_constraint},
      {"pointwise_kernel",
       {1, 1, channels * depth_multiplier, filters},
       pointwise_initializer,
       pointwise_regularizer,
       pointwise_constraint}};
  AddBias(filters, variables);
  return variables;
}

LoweredLayer SeparableConv2D::Lower(const LayerCall& call) const {
  const op::Tensor of_channels =
      DepthwiseConvolved(call.inputs[0], call.variables[0]);
  return WithBias(
      op::Convolution(of_channels, call.variables[1], /*parameters=*/{}),
      call.variables);
}

}  // namespace paceline
