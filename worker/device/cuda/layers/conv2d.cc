#include "common/model/layers/conv2d.h"

#include "worker/device/cuda/convolution.h"
#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class Conv2DComputation final : public NodeComputation {
 public:
  Conv2DComputation(const Conv2D& layer, const Node& node)
      : layer_(layer),
        node_(node),
        activation_(layer.activation),
        convolution_({.windows = layer.windows(),
                      .groups = layer.groups,
                      .filters = layer.filters,
                      .kernel = node.variables[0]}) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    return convolution_.AddForward(
        input, layer_.use_bias ? builder.variable(bias()) : nullptr,
        activation_, builder);
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    convolution_.AddKernelGradient(gradient, builder);
    if (layer_.use_bias) {
      builder.AddColumnSums(gradient, gradient->count() / layer_.filters,
                            layer_.filters, builder.gradient(bias()));
      builder.FinishGradient(bias());
    }
    return wants_input ? convolution_.AddInputGradient(gradient, builder)
                       : nullptr;
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  int bias() const { return node_.variables[1]; }

  const Conv2D& layer_;
  const Node& node_;
  FinalActivation activation_;
  Convolution convolution_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConv2D(const Graph& /*graph*/,
                                            const Node& node) {
  return std::make_unique<Conv2DComputation>(
      static_cast<const Conv2D&>(*node.layer), node);
}

}  // namespace paceline::cuda
