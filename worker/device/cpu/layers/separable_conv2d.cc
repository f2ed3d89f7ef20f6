#include "common/model/layers/separable_conv2d.h"

#include "worker/device/cpu/convolution.h"
#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class SeparableConv2DComputation final : public LayerComputation {
 public:
  SeparableConv2DComputation(const SeparableConv2D& layer, const Graph& graph,
                             const Node& node, int64_t channels)
      : activation_(layer.activation, graph, node),
        depthwise_({.windows = layer.windows(),
                    .groups = channels,
                    .filters = channels * layer.depth_multiplier,
                    .kernel = node.variables[0]}),
        pointwise_({.windows = {},
                    .filters = layer.filters,
                    .kernel = node.variables[1],
                    .bias = layer.use_bias
                                ? std::optional<int>(node.variables[2])
                                : std::nullopt}) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    Tensor* const between = depthwise_.AddForward(input, builder);
    Tensor* const values = pointwise_.AddForward(between, builder);
    return activation_.AddForwardOver(values, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    Tensor* const between =
        pointwise_.AddBackward(gradient, /*wants_input=*/true, builder);
    return {depthwise_.AddBackward(between, wants_input, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  FinalActivation activation_;
  Convolution depthwise_;
  Convolution pointwise_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeSeparableConv2D(const Graph& graph,
                                                     const Node& node) {
  return std::make_unique<SeparableConv2DComputation>(
      static_cast<const SeparableConv2D&>(*node.layer), graph, node,
      graph.nodes[node.inputs[0]].output_shape.back());
}

}  // namespace paceline::cpu
