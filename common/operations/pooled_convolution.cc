#include "common/operations/pooled_convolution.h"

#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> PooledConvolutionOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType convolved =
      ConvolutionOperation(parameters_.convolution, {.has_bias = has_bias_})
          .OutputTypes(inputs)[0];
  const int64_t filters = convolved.shape.back();
  const Shape pooled =
      WindowOutputShape(parameters_.pooling, convolved.shape, filters);
  std::vector<TensorType> outputs = {{convolved.type, pooled}};
  if (has_positions_) outputs.push_back({DataType::kInt32, pooled});
  return outputs;
}

std::vector<TensorType> PooledConvolutionKernelGradientOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType& input = inputs[0];
  const int64_t filters = inputs[1].shape.back();
  const Shape pooled = parameters_.PooledShape(input.shape, filters);
  CHECK(inputs[1] == TensorType({DataType::kInt32, pooled}))
      << ToString(inputs[1]);
  CHECK(inputs[2] == TensorType({input.type, pooled})) << ToString(inputs[2]);
  return ConvolutionKernelGradientOperation(parameters_.convolution,
                                            has_row_sum_)
      .OutputTypes(
          {input,
           {input.type, parameters_.ConvolvedShape(input.shape, filters)}});
}

}  // namespace paceline::op
