#include "common/model/layers/separable_conv2d.h"

#include "worker/device/cuda/convolution.h"
#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class SeparableConv2DComputation final : public LayerComputation {
 public:
  SeparableConv2DComputation(const SeparableConv2D& layer, const Node& node,
                             int64_t channels)
      : layer_(layer),
        node_(node),
        activation_(layer.activation),
        depthwise_({.windows = layer.windows(),
                    .groups = channels,
                    .filters = channels * layer.depth_multiplier,
                    .kernel = node.variables[0]}),
        pointwise_({.windows = {},
                    .filters = layer.filters,
                    .kernel = node.variables[1]}) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    Tensor* const between = depthwise_.AddForward(input, builder);
    return pointwise_.AddForward(
        between,
        layer_.use_bias ? builder.variable(node_.variables[2]) : nullptr,
        activation_, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    pointwise_.AddKernelGradient(gradient, builder);
    if (layer_.use_bias) {
      builder.AddBiasGradient(gradient, node_.variables[2]);
    }
    Tensor* const between = pointwise_.AddInputGradient(gradient, builder);
    depthwise_.AddKernelGradient(between, builder);
    if (!wants_input) return {};
    return {depthwise_.AddInputGradient(between, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  const SeparableConv2D& layer_;
  const Node& node_;
  FinalActivation activation_;
  Convolution depthwise_;
  Convolution pointwise_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeSeparableConv2D(const Graph& graph,
                                                     const Node& node) {
  return std::make_unique<SeparableConv2DComputation>(
      static_cast<const SeparableConv2D&>(*node.layer), node,
      graph.nodes[node.inputs[0]].output_shape.back());
}

}  // namespace paceline::cuda
