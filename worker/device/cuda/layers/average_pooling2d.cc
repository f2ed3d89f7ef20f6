#include "common/model/layers/average_pooling2d.h"

#include "worker/device/cuda/layers/layers.h"
#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {
namespace {

class AveragePooling final : public LayerComputation {
 public:
  AveragePooling(const Node& node, const ImageWindows& windows)
      : node_(node), windows_(windows) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddKernel(
        {input, output}, output->count(), [=, windows = windows_] {
          return AveragePool{windows, ValuesOf(input), ValuesOf(output)};
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddKernel({output.tensor, input_gradient}, input_gradient->count(),
                      [=, windows = windows_] {
                        return AveragePoolBackward{windows,
                                                   ValuesOf(output.tensor),
                                                   ValuesOf(input_gradient)};
                      });
    return {input_gradient};
  }

 private:
  const Node& node_;
  const ImageWindows windows_;
  Shape input_shape_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeAveragePooling2D(const Graph& graph,
                                                      const Node& node) {
  const auto& layer = static_cast<const AveragePooling2D&>(*node.layer);
  return std::make_unique<AveragePooling>(
      node,
      WindowsOf(layer.windows(), graph.nodes[node.inputs[0]].output_shape));
}

}  // namespace paceline::cuda
