#include "common/model/layers/conv2d.h"

#include "common/model/layers/depthwise_conv2d.h"
#include "worker/device/cpu/convolution.h"
#include "worker/device/cpu/factor_outputs.h"
#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// In groups, and so depthwise too.
class Conv2DComputation final : public LayerComputation {
 public:
  Conv2DComputation(const ConvolutionLayer& layer, const Graph& graph,
                    const Node& node, int64_t groups)
      : activation_(layer.activation, graph, node),
        convolution_({.windows = layer.windows(),
                      .groups = groups,
                      .filters = node.output_shape.back(),
                      .kernel = node.variables[0],
                      .bias = layer.use_bias
                                  ? std::optional<int>(node.variables[1])
                                  : std::nullopt,
                      .is_read_as_factors =
                          layer.activation == ActivationFunction::kLinear &&
                          IsReadAsFactors(graph, node)}) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    Tensor* const values = convolution_.AddForward(input, builder);
    return activation_.AddForwardOver(values, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    return {convolution_.AddBackward(gradient, wants_input, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  FinalActivation activation_;
  Convolution convolution_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConv2D(const Graph& graph,
                                            const Node& node) {
  const auto& layer = static_cast<const Conv2D&>(*node.layer);
  return std::make_unique<Conv2DComputation>(layer, graph, node, layer.groups);
}

std::unique_ptr<NodeComputation> MakeDepthwiseConv2D(const Graph& graph,
                                                     const Node& node) {
  const int64_t channels = graph.nodes[node.inputs[0]].output_shape.back();
  return std::make_unique<Conv2DComputation>(
      static_cast<const DepthwiseConv2D&>(*node.layer), graph, node, channels);
}

}  // namespace paceline::cpu
