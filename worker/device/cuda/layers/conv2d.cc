#include "common/model/layers/conv2d.h"

#include "common/model/layers/depthwise_conv2d.h"
#include "worker/device/cuda/convolution.h"
#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// In groups, and so depthwise too.
class Conv2DComputation final : public LayerComputation {
 public:
  Conv2DComputation(const ConvolutionLayer& layer, const Node& node,
                    int64_t groups)
      : layer_(layer),
        node_(node),
        activation_(layer.activation),
        convolution_({.windows = layer.windows(),
                      .groups = groups,
                      .filters = node.output_shape.back(),
                      .kernel = node.variables[0]}) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    return convolution_.AddForward(
        input, layer_.use_bias ? builder.variable(node_.variables[1]) : nullptr,
        activation_, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    convolution_.AddKernelGradient(gradient, builder);
    if (layer_.use_bias) {
      builder.AddBiasGradient(gradient, node_.variables[1]);
    }
    if (!wants_input) return {};
    return {convolution_.AddInputGradient(gradient, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  const ConvolutionLayer& layer_;
  const Node& node_;
  FinalActivation activation_;
  Convolution convolution_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConv2D(const Graph& /*graph*/,
                                            const Node& node) {
  const auto& layer = static_cast<const Conv2D&>(*node.layer);
  return std::make_unique<Conv2DComputation>(layer, node, layer.groups);
}

std::unique_ptr<NodeComputation> MakeDepthwiseConv2D(const Graph& graph,
                                                     const Node& node) {
  const int64_t channels = graph.nodes[node.inputs[0]].output_shape.back();
  return std::make_unique<Conv2DComputation>(
      static_cast<const DepthwiseConv2D&>(*node.layer), node, channels);
}

}  // namespace paceline::cuda
