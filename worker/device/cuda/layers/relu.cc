#include "common/model/layers/relu.h"

#include <limits>

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class ReluComputation final : public LayerComputation {
 public:
  explicit ReluComputation(const ReLU& layer)
      : forward_{.threshold = static_cast<float>(layer.threshold),
                 .slope = static_cast<float>(layer.negative_slope),
                 .ceiling = static_cast<float>(layer.max_value.value_or(
                     std::numeric_limits<double>::infinity())),
                 .at_threshold =
                     static_cast<float>(layer.derivative_at_threshold())} {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddKernel({input, output}, input->count(),
                      [=, relu = forward_]() mutable {
                        relu.inputs = ValuesOf(input);
                        relu.outputs = ValuesOf(output);
                        return relu;
                      });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = Overwritable(output, builder);
    builder.AddKernel({input_, gradient}, input_->count(),
                      [relu = forward_, input = input_, gradient] {
                        return BentReluBackward{
                            relu.threshold,  relu.slope,
                            relu.ceiling,    relu.at_threshold,
                            ValuesOf(input), ValuesOf(gradient)};
                      });
    return {gradient};
  }

 private:
  // Without its blocks.
  const BentRelu forward_;
  Tensor* input_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeReLU(const Graph& /*graph*/,
                                          const Node& node) {
  return std::make_unique<ReluComputation>(
      static_cast<const ReLU&>(*node.layer));
}

}  // namespace paceline::cuda
