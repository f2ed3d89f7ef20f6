#include "common/model/layers/average_pooling2d.h"

#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class AveragePooling final : public LayerComputation {
 public:
  AveragePooling(const Node& node, PoolWindows windows)
      : node_(node),
        windows_(std::make_shared<const PoolWindows>(std::move(windows))) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddParallel(
        {input, output}, input_shape_[0], image_size(),
        [windows = windows_, input, output](int64_t begin, int64_t end) {
          AveragePoolForward(*windows, begin, end, input->floats(),
                             output->floats());
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddParallel(
        {output.tensor, input_gradient}, input_shape_[0], image_size(),
        [windows = windows_, out_gradient = output.tensor, input_gradient](
            int64_t begin, int64_t end) {
          AveragePoolBackward(*windows, begin, end, out_gradient->floats(),
                              input_gradient->floats());
        });
    return {input_gradient};
  }

 private:
  int64_t image_size() const {
    return windows_->pixel_count * windows_->channels;
  }

  const Node& node_;
  std::shared_ptr<const PoolWindows> windows_;
  Shape input_shape_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeAveragePooling2D(const Graph& graph,
                                                      const Node& node) {
  const auto& layer = static_cast<const AveragePooling2D&>(*node.layer);
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  return std::make_unique<AveragePooling>(
      node, MakePoolWindows(layer.windows(), image));
}

// One window, over all of the image.
std::unique_ptr<NodeComputation> MakeGlobalAveragePooling2D(const Graph& graph,
                                                            const Node& node) {
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  return std::make_unique<AveragePooling>(
      node, MakePoolWindows(
                {Window{.size = image[0]}, Window{.size = image[1]}}, image));
}

}  // namespace paceline::cpu
